import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { describeUnless, unlessBuilt } from './needs.testing.ts';

const root = join(import.meta.dirname, '..');
const browserBundle = join(root, 'dist/browser/index.js');

describeUnless(unlessBuilt('dist/index.js'))('the built library', () => {
  test('the example runs', () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['examples/mutate-pod.mjs'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toBe(`{"name":"web","namespace":"shop","labels":{"team":"shop"}}
[{"op":"add","path":"/metadata/labels","value":{"team":"shop"}}]
owner: unchanged: no patches applied
autogen-owner: skipped: the object does not match
autogen-cronjob-owner: skipped: the object does not match
`);
  });
});

test('what npm start builds contains the library', async () => {
  const outdir = join(root, '.cache', `start-${process.pid}`);
  try {
    const program = `import { bundleForStart } from './scripts/build.mjs'; await bundleForStart({ outdir: ${JSON.stringify(outdir)} });`;
    const built = spawnSync(process.execPath, ['--input-type=module', '-e', `${program} process.exit(0)`], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(built.stderr).toBe('');
    const { loadPolicies } = (await import(join(outdir, 'index.js'))) as typeof import('../src/index.ts');
    expect(loadPolicies({ file: 'p.yaml', text: 'kind: ConfigMap' }).policies).toEqual([]);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
});

describeUnless(unlessBuilt('dist/browser/index.js'))('the bundle for browsers', () => {
  const text = () => readFileSync(browserBundle, 'utf8');

  test('imports nothing', () => {
    // Messages may contain the word: only statements count.
    const statement =
      /\b(?:import|export)\b[^;"'()]*\bfrom\s*["']|\bimport\s*["']|\brequire\(["']|\bimport\(["']/;
    expect(text()).not.toMatch(statement);
  });

  test('mutates a Pod without any Node API', async () => {
    const { code } = await transform(text(), { format: 'iife', globalName: 'kymera' });
    const context = createContext({ TextEncoder, TextDecoder, URL, crypto, atob, btoa });
    runInContext(code, context);
    const program = `(async () => {
      const set = kymera.loadPolicies({ file: 'p.yaml', text: policy });
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } };
      const { object } = await kymera.mutate(pod, set);
      const outcomes = await kymera.explain(pod, set);
      return JSON.stringify([typeof process, typeof Buffer, set.problems, object.metadata.labels, outcomes[0].status]);
    })()`;
    const labels = `a: "{{ to_upper(request.namespace) }}", b: "{{ base64_encode('x') }}", c: "{{ sha256('x') }}"`;
    context['policy'] =
      `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n    mutate: {patchStrategicMerge: {metadata: {labels: {${labels}}}}}\n`;
    const answer = JSON.parse((await runInContext(program, context)) as string) as unknown;
    const sha256 = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
    expect(answer).toEqual(['undefined', 'undefined', [], { a: 'SHOP', b: 'eA==', c: sha256 }, 'applied']);
  });
});
