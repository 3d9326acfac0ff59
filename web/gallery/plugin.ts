import type { Plugin } from 'vite';
import { sharedModule } from '../platform/shared-module.ts';
import { collectExamples } from './collect.ts';

const name = 'virtual:gallery';
const resolved = `\0${name}`;

/** Bundles the examples of the repository as the module `virtual:gallery`. */
export function galleryPlugin(root: string): Plugin {
  return {
    name: 'kymera-gallery',
    resolveId: (id) => (id === name ? resolved : undefined),
    load: (id) => (id === resolved ? sharedModule({ examples: collectExamples(root) }) : undefined),
  };
}
