// `node bench/cel.mjs`: the cost of typical CEL expressions, in processor time, next to the limit of 1 µs each.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../scripts/setup.mjs';

const expressions = [
  "object.spec.containers.all(c, c.image.startsWith('x'))",
  "has(object.metadata.labels) && object.metadata.labels['a'] == 'b'",
  "variables.x + 1 > 3 ? 'a' : 'b'",
  "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: object.metadata.name}]",
];
const rounds = 1_000_000;

const folder = join(root, '.cache', 'bench');
mkdirSync(folder, { recursive: true });
const outfile = join(folder, 'cel.mjs');
const contents = ['environments', 'expression', 'types/environment', 'types/type', 'value/value']
  .map((name) => `export * from './src/cel/${name}.ts';`)
  .join('\n');
await build({
  stdin: { contents, resolveDir: root, loader: 'ts' },
  outfile,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20',
});
const cel = await import(outfile);

const variables = cel.declareStruct('kyverno.Variables', { x: 'int' });
const environment = cel.extendEnvironment(cel.mutatingPolicyEnvironment(), {
  structs: [variables],
  variables: [{ name: 'variables', type: cel.structType(variables.name) }],
});
const values = new Map([
  [
    'object',
    {
      metadata: { name: 'web', labels: { a: 'b' } },
      spec: { containers: [{ image: 'xa' }, { image: 'xb' }, { image: 'xc' }] },
    },
  ],
  ['variables', new cel.LazyObject(variables.name, () => 4)],
]);
const scope = {
  lookup: (name) => values.get(name),
  effects: { now: () => new Date(), random: Math.random },
};

for (const source of expressions) {
  const compile = measure(200, () => cel.compileCel(source, environment));
  const { expression } = cel.compileCel(source, environment);
  const evaluate = measure(rounds, () => expression.evaluate(scope));
  console.log(
    `${evaluate.toFixed(2).padStart(6)} µs, compile ${compile.toFixed(0).padStart(4)} µs: ${source}`,
  );
}

/** Mean microseconds of processor time, after as many calls to warm up. */
function measure(times, run) {
  for (let i = 0; i < times; i += 1) run();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
