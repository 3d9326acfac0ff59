import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { referencePlugin } from './editor/plugin.ts';
import { galleryPlugin } from './gallery/plugin.ts';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: file('.'),
  // Relative addresses: the folder works under any path.
  base: './',
  cacheDir: file('../.cache/vite'),
  plugins: [galleryPlugin(file('..')), referencePlugin(file('..'))],
  resolve: {
    alias: {
      'node:buffer': file('platform/node-buffer.ts'),
      'node:crypto': file('platform/node-crypto.ts'),
      'node:path': file('platform/node-path.ts'),
    },
  },
  build: {
    outDir: file('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // `npm start` prints only what its user needs.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  worker: { format: 'es' },
});
