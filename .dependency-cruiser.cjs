/** Imports point down: a layer may use itself, the layers named before it, and the two files below them all. */
const layers = [
  'json',
  'yaml',
  'expression',
  'patch',
  'policy',
  'engine',
  'analysis',
  'admission',
  'kustomize',
  'background',
  'offline',
  'cluster',
  'server',
  'cli',
];
const pureLayers = [...layers.slice(0, layers.indexOf('analysis') + 1), 'offline'];
const purePackages = ['yaml', 'js-yaml', 'jmespath', 're2js', 'lru-cache', 'semver', 'fast-json-patch'];
const foundation = '^src/(errors|problem|input-error)\\.ts$';
/** Reads the clock of the process: only for layers that may. */
const systemEnvironment = '^src/system-environment\\.ts$';
const pureSources = [`^src/(${pureLayers.join('|')})/`, foundation];
const testCode = '(\\.test\\.ts$|^test/|^bench/)';

module.exports = {
  forbidden: [
    ...layers.map((layer, index) => ({
      name: `layer-${layer}`,
      comment: `${layer}/ imports only from ${[...layers.slice(0, index), 'itself'].join(', ')}.`,
      severity: 'error',
      from: { path: `^src/${layer}/`, pathNot: testCode },
      to: {
        path: '^src/',
        pathNot: [
          `^src/(${layers.slice(0, index + 1).join('|')})/`,
          foundation,
          ...(pureLayers.includes(layer) ? [] : [systemEnvironment]),
        ],
      },
    })),
    {
      name: 'foundation',
      comment: 'errors.ts and problem.ts lie below every layer; problem.ts knows the types of json/.',
      severity: 'error',
      from: { path: foundation },
      to: { path: '^src/', pathNot: [foundation, '^src/json/value\\.ts$'] },
    },
    {
      name: 'pure-layers-do-no-io',
      comment: 'json … engine run in the browser too: no built-in modules of node.',
      severity: 'error',
      from: { path: pureSources, pathNot: testCode },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-layers-use-pure-packages',
      comment: `json … engine use no packages but ${purePackages.join(', ')}.`,
      severity: 'error',
      from: { path: pureSources, pathNot: testCode },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'],
        pathNot: `^node_modules/(@types/)?(${purePackages.join('|')})/`,
      },
    },
    {
      name: 'no-test-code',
      comment: 'What we ship imports no test code.',
      severity: 'error',
      from: { path: '^src/', pathNot: testCode },
      to: { path: testCode },
    },
    {
      name: 'no-dev-packages',
      comment: 'What we ship imports no development packages (types excepted).',
      severity: 'error',
      from: { path: '^src/', pathNot: testCode },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/@types/',
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
