import type { Stage } from './dockerfile.mjs';

export function runImageSteps(options: {
  readonly folder: string;
  readonly modules?: string;
  readonly log?: (line: string) => void;
}): { readonly image: string; readonly stage: Stage };
