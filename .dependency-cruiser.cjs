const { readdirSync } = require('node:fs');

/** Imports point down: a layer may use itself, the layers named before it, and the foundation below them all. */
const layers = [
  'json',
  'yaml',
  'expression',
  'cel',
  'patch',
  'policy',
  'engine',
  'analysis',
  'admission',
  'kustomize',
  'background',
  'offline',
  'convert',
  'cluster',
  'server',
  'cli',
];
const pureLayers = [...layers.slice(0, layers.indexOf('analysis') + 1), 'offline', 'convert'];
const purePackages = [
  'yaml',
  'diff',
  'js-yaml',
  'jmespath',
  're2js',
  'lru-cache',
  'semver',
  'fast-json-patch',
  '@noble/hashes',
  'diff',
  '@peculiar/asn1-(schema|x509)',
  'asn1js',
];
const foundation = '^src/(errors|problem)\\.ts$';
/** Reads the clock of the process: only for layers that are not pure. */
const systemEnvironment = '^src/system-environment\\.ts$';
const pureSources = [`^src/(${pureLayers.join('|')})/`, foundation];
const developmentTools = [
  '@biomejs',
  '@vitest',
  'dependency-cruiser',
  'esbuild',
  'fast-check',
  'fast-json-patch',
  'jmespath',
  'knip',
  'typescript',
  'vitest',
];
const testCode = '(\\.test\\.ts$|\\.testing\\.ts$|^test/|^bench/)';

/**
 * The rooms (folders) of each layer, and which other rooms of the layer each may import. A room lists only rooms
 * above it in the table, so there are no cycles. Files that stand directly in a layer's folder are not restricted.
 */
const rooms = {
  json: { patch: [], diff: ['patch'] },
  expression: {
    go: [],
    jmespath: [],
    functions: ['go'],
    compile: ['functions', 'go', 'jmespath'],
    template: ['compile', 'jmespath'],
    conditions: ['go', 'template'],
  },
  cel: {
    value: [],
    syntax: ['value'],
    types: ['syntax', 'value'],
    library: ['syntax', 'types', 'value'],
    compile: ['syntax', 'types', 'value'],
  },
  patch: {
    generated: [],
    structured: ['generated'],
    strategic: ['structured'],
    'field-path': ['strategic'],
    replacement: ['field-path', 'strategic'],
    'json-patch': ['structured'],
    v1alpha1: ['strategic'],
  },
  policy: {
    schema: [],
    check: ['schema'],
    compile: ['check', 'schema'],
    registry: [],
    cel: ['compile', 'registry', 'schema'],
  },
  engine: { context: [] },
  analysis: { advice: [], blame: [], writes: [], interplay: ['writes'] },
  kustomize: {
    yaml: [],
    kustomization: ['yaml'],
    resource: ['kustomization', 'yaml'],
    fields: ['kustomization', 'resource'],
    patches: ['kustomization', 'resource', 'yaml'],
    transformers: ['fields', 'kustomization', 'patches', 'resource', 'yaml'],
    generators: ['kustomization', 'resource', 'transformers'],
    plugins: ['fields', 'generators', 'kustomization', 'patches', 'resource', 'transformers', 'yaml'],
    remote: ['kustomization', 'plugins'],
  },
  background: {
    access: [],
    store: [],
    queue: [],
    triggers: ['queue'],
    targets: ['queue', 'store', 'triggers'],
    generate: ['store', 'triggers'],
    run: ['generate', 'queue', 'targets', 'triggers'],
  },
  offline: { output: [], test: ['output'] },
  convert: { forms: [], expression: [], match: ['expression'], mutation: ['expression', 'match'], proof: [] },
  cluster: {
    api: [],
    crds: [],
    events: ['api'],
    metrics: ['api'],
    certificates: ['api'],
    settings: ['api', 'certificates'],
    policies: ['api', 'crds', 'settings'],
    context: ['api', 'policies'],
    webhooks: ['api', 'policies'],
    'admission-policies': ['api', 'policies', 'webhooks'],
    background: ['api', 'events', 'metrics', 'policies', 'settings'],
    leader: [
      'admission-policies',
      'api',
      'certificates',
      'context',
      'metrics',
      'policies',
      'settings',
      'webhooks',
    ],
  },
  server: { metrics: [], watchdog: [], reviews: ['metrics', 'watchdog'], live: ['reviews'] },
  cli: {
    output: [],
    input: ['output'],
    about: ['output'],
    completion: [],
    explain: ['input', 'output'],
    test: ['input', 'output'],
    existing: ['input', 'output'],
    apply: ['input', 'output'],
    build: ['input', 'output'],
    convert: ['input', 'output', 'test'],
    create: ['input', 'output', 'test'],
    gitops: ['input', 'output'],
    jp: ['input', 'output'],
    cel: ['input', 'output'],
    migrate: ['input', 'output'],
    playground: ['input', 'output'],
    serve: ['input', 'output'],
    operate: ['input', 'output'],
    validate: ['input', 'output'],
  },
};

for (const layer of layers) {
  const table = rooms[layer] ?? {};
  const names = Object.keys(table);
  for (const entry of readdirSync(`${__dirname}/src/${layer}`, { withFileTypes: true })) {
    if (entry.isDirectory() && !names.includes(entry.name)) {
      throw new Error(`.dependency-cruiser.cjs does not list the room src/${layer}/${entry.name}`);
    }
  }
  names.forEach((room, index) => {
    const unknown = table[room].find((other) => !names.slice(0, index).includes(other));
    if (unknown !== undefined) throw new Error(`${layer}/${room}: list ${unknown} above it`);
  });
}

/** Rooms of the command line that hold no command. */
const sharedRooms = ['input', 'output'];

const roomRules = Object.entries(rooms).flatMap(([layer, table]) =>
  Object.entries(table).map(([room, others]) => ({
    name: `room-${layer}-${room}`,
    comment: `${layer}/${room}/ imports only these rooms of its layer: ${others.join(', ') || 'none'}.`,
    severity: 'error',
    from: { path: `^src/${layer}/${room}/`, pathNot: testCode },
    to: { path: `^src/${layer}/[^/]+/`, pathNot: `^src/${layer}/(${[room, ...others].join('|')})/` },
  })),
);

const commandRule = {
  name: 'command-rooms',
  comment: "A command's room is entered only through its command.ts.",
  severity: 'error',
  from: { path: '^src/cli/[^/]+\\.ts$', pathNot: testCode },
  to: {
    path: '^src/cli/[^/]+/',
    pathNot: [`^src/cli/(${sharedRooms.join('|')})/`, '^src/cli/[^/]+/[^/]*command\\.ts$'],
  },
};

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
    ...roomRules,
    commandRule,
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
      name: 'page',
      comment:
        'The page imports only what runs in a browser: pure layers, and layers whose Node modules web/platform replaces.',
      severity: 'error',
      from: {
        path: '^web/',
        pathNot: [
          '\\.test\\.ts$',
          '^web/vite.config.ts$',
          '^web/gallery/(collect|plugin).ts$',
          '^web/editor/plugin.ts$',
        ],
      },
      to: {
        path: ['^src/', '^node:'],
        pathNot: [
          `^src/(${[...pureLayers, 'admission', 'kustomize', 'background'].join('|')})/`,
          foundation,
          systemEnvironment,
        ],
      },
    },
    {
      name: 'page-is-not-imported',
      comment: 'Nothing in src/ knows the page.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^web/' },
    },
    {
      name: 'no-test-code',
      comment: 'What we ship imports no test code.',
      severity: 'error',
      from: { path: '^src/', pathNot: testCode },
      to: { path: testCode },
    },
    {
      name: 'no-development-tools',
      comment:
        'What we ship imports no tools and test packages (types excepted). The build bundles all other packages.',
      severity: 'error',
      from: { path: '^src/', pathNot: testCode },
      to: {
        dependencyTypesNot: ['type-only'],
        path: `^node_modules/(${developmentTools.join('|')})/`,
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    // The gallery is a module that vite creates.
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^virtual:' } },
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
