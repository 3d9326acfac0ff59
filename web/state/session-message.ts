import { signal } from '@preact/signals';

/** The state of the files of `kymera playground`. */
export const sessionMessage = signal<{ readonly text: string; readonly isBad: boolean } | undefined>(
  undefined,
);
