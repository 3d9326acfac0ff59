// Measures the engine inside one process: loading policies, and answering admission reviews.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function readPolicies(folder) {
  return readdirSync(folder)
    .sort()
    .map((name) => ({ file: name, text: readFileSync(join(folder, name), 'utf8') }));
}

/** Bundles bench/reviewer.ts, which runs reviews as the server does. */
export async function loadReviewer(root, folder) {
  const { build } = await import('esbuild');
  const outfile = join(folder, 'reviewer.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['bench/reviewer.ts'],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    logLevel: 'warning',
  });
  return import(outfile);
}

/** Fails unless the answer allows the request, has a patch, and is the same each time: a wrong answer must not be measured. */
export async function assertAnswer(answer) {
  const first = await answer();
  const { response } = JSON.parse(first);
  if (response?.allowed !== true || typeof response.patch !== 'string') {
    throw new Error(`the review was not answered with a patch: ${first.slice(0, 500)}`);
  }
  if ((await answer()) !== first) throw new Error('the same review was answered in two ways');
}
