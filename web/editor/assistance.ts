import type { Extension } from '@codemirror/state';

export const assistance: Extension = [];
