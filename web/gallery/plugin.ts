import type { Plugin } from 'vite';
import { collectExamples } from './collect.ts';

const name = 'virtual:gallery';
const resolved = `\0${name}`;

/** Bundles the examples of the repository as the module `virtual:gallery`. */
export function galleryPlugin(root: string): Plugin {
  return {
    name: 'kymera-gallery',
    resolveId: (id) => (id === name ? resolved : undefined),
    load: (id) =>
      id === resolved ? `export const examples = ${JSON.stringify(collectExamples(root))};` : undefined,
  };
}
