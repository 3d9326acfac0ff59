import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, startInBackground } from '../background.ts';
import { grant, hasRight, revoke } from '../installation.ts';
import { configMap } from '../objects.ts';
import { applyPolicies, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const other = 'e2e-scope-other';
const group = 'scope.example.com';
const rbac = 'rbac.authorization.k8s.io/v1';
const custom = `${group}/v1`;
/** Only Kymera limits what its accounts do here. */
const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

const definition = (kind: string, scope: string): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope,
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const entry = (name: string, annotations: JsonObject): JsonObject => ({
  apiVersion: 'kyverno.io/v2beta1',
  kind: 'GlobalContextEntry',
  metadata: { name, annotations },
  spec: { kubernetesResource: { version: 'v1', resource: 'secrets', namespace: other } },
});

/** A value as a variable, and as an expression over the trigger. */
const variables = (value: string): readonly string[] => [
  `{{ '${value}' }}`,
  `{{ request.object.data.none || '${value}' }}`,
];
const forms = (value: string): readonly string[] => [value, ...variables(value)];

suite('a namespaced Policy stays in its namespace', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  before(async () => {
    await kubectl.ok('create', 'namespace', other);
    await kubectl.sendOk('create', [definition('Hive', 'Cluster'), definition('Bee', 'Namespaced')]);
    await kubectl.ok('wait', '--for=condition=Established', `crd/hives.${group}`, `crd/bees.${group}`);
    background = await startInBackground(settings, { rules: everything });
    await grant(background.own, 'admission', 'e2e-scope', everything);
    await hasRight(background.own, 'admission', 'get', 'nodes');
    await kubectl.with(`--namespace=${other}`).sendOk('create', [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'foreign' }, stringData: { a: 'b' } },
      { apiVersion: custom, kind: 'Bee', metadata: { name: 'bee' } },
    ]);
    await kubectl.sendOk('create', [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'own', namespace }, stringData: { a: 'b' } },
      { apiVersion: custom, kind: 'Hive', metadata: { name: 'hive' } },
      { apiVersion: custom, kind: 'Bee', metadata: { name: 'bee', namespace } },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'out', namespace },
        spec: { type: 'ExternalName', externalName: 'kubernetes.default.svc.cluster.local' },
      },
      entry('open', { 'kymera.io/allow-namespaced': 'true' }),
      entry('closed', {}),
    ]);
  });
  after(async () => {
    await revoke(background.own, 'admission', 'e2e-scope');
    await background.uninstall();
    await kubectl.ok('delete', 'globalcontextentries', 'open', 'closed');
    await kubectl.ok('delete', 'crd', `hives.${group}`, `bees.${group}`, '--wait=false');
    await kubectl.ok('delete', 'namespace', other, '--wait=false');
  });

  const policy = (name: string, rules: readonly JsonObject[], spec: JsonObject = {}): JsonObject => ({
    apiVersion: 'kyverno.io/v1',
    kind: 'Policy',
    metadata: { name, namespace },
    spec: {
      ...spec,
      rules: rules.map((rule, index) => ({
        name: `r${index}`,
        match: { any: [{ resources: { kinds: ['ConfigMap'], names: [`${name}-trigger`] } }] },
        ...rule,
      })),
    },
  });

  /** Runs all rules of a policy for one trigger; returns the state and message of each, in order. */
  async function outcomes(name: string, rules: readonly JsonObject[]): Promise<readonly string[]> {
    return withPolicies(kubectl, [policy(name, rules)], async () => {
      await kubectl.sendOk('create', configMap(`${name}-trigger`));
      const ended = await waitFor(
        async () => {
          const requests = (await background.updateRequests()).filter(
            ({ spec }) => spec.policy === `${namespace}/${name}`,
          );
          const done = requests.filter(({ status }) => status?.state && status.state !== 'Pending');
          return done.length === rules.length ? done : undefined;
        },
        { what: `${rules.length} UpdateRequests of ${name}` },
      );
      await background.own.ok('delete', 'updaterequests', ...ended.map(({ metadata }) => metadata.name));
      return rules.map((_, index) => {
        const status = ended.find(({ spec }) => spec.rule === `r${index}`)?.['status'];
        return `${status?.state}: ${status?.message}`;
      });
    });
  }

  /** Messages with values of objects are reduced to the code. */
  const isBoundary = (message: string) =>
    message.includes('KYM_NAMESPACE_BOUNDARY') ||
    message.includes(`a Policy in namespace ${namespace} cannot `);

  async function expectRefused(name: string, rules: readonly JsonObject[]): Promise<void> {
    const found = await outcomes(name, rules);
    const passed = found.flatMap((outcome, index) =>
      outcome.startsWith('Failed: ') && isBoundary(outcome)
        ? []
        : [`${outcome} ${JSON.stringify(rules[index])}`],
    );
    expect(passed).toEqual([]);
  }

  const generate = (fields: JsonObject): JsonObject => ({ generate: { name: 'escaped', ...fields } });
  const binding = {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }],
  };

  it('generate: data, clone and cloneList', async () => {
    await expectRefused('generate', [
      // Built-in and custom, cluster-scoped.
      ...variables('ClusterRoleBinding').flatMap((kind) =>
        ['', namespace].map((home) => generate({ apiVersion: rbac, kind, namespace: home, data: binding })),
      ),
      ...variables('Namespace').map((kind) => generate({ apiVersion: 'v1', kind, data: {} })),
      ...variables('Hive').map((kind) => generate({ apiVersion: custom, kind, namespace, data: {} })),
      // Kinds by wildcard, and kinds that nobody knows.
      generate({ apiVersion: rbac, kind: "{{ 'ClusterRoleBind*' }}", namespace, data: binding }),
      generate({ apiVersion: "{{ '*' }}", kind: 'Secret', namespace, data: {} }),
      ...variables('Unknown').map((kind) => generate({ apiVersion: custom, kind, namespace, data: {} })),
      // Other namespaces.
      ...variables(other).flatMap((elsewhere) => [
        generate({ apiVersion: 'v1', kind: 'Secret', namespace: elsewhere, data: {} }),
        generate({ apiVersion: custom, kind: 'Bee', namespace: elsewhere, data: {} }),
        generate({
          apiVersion: 'v1',
          kind: 'Secret',
          namespace,
          clone: { namespace: elsewhere, name: 'foreign' },
        }),
        generate({
          apiVersion: custom,
          kind: 'Bee',
          namespace,
          clone: { namespace: elsewhere, name: 'bee' },
        }),
        { generate: { namespace, cloneList: { namespace: elsewhere, kinds: ['v1/Secret'] } } },
        { generate: { namespace, cloneList: { namespace: elsewhere, kinds: ['*'] } } },
        { generate: { namespace: elsewhere, cloneList: { namespace, kinds: ['v1/Secret'] } } },
      ]),
      generate({ apiVersion: 'v1', kind: 'Secret', namespace: "{{ 'e2e-scope-*' }}", data: {} }),
      generate({ apiVersion: custom, kind: "{{ 'Hive' }}", clone: { name: 'hive' } }),
      generate({ apiVersion: rbac, kind: "{{ 'ClusterRole' }}", clone: { name: 'cluster-admin' } }),
      ...forms(`${custom}/Hive`).map((kind) => ({ generate: { namespace, cloneList: { kinds: [kind] } } })),
      {
        generate: {
          foreach: [
            {
              list: "['ClusterRoleBinding']",
              apiVersion: rbac,
              kind: '{{ element }}',
              name: 'escaped',
              data: binding,
            },
          ],
        },
      },
    ]);
    const made = 'generate.kyverno.io/policy-name=generate';
    for (const kind of ['clusterrolebindings', 'namespaces', `hives.${group}`]) {
      expect(await kubectl.list(kind, '--selector', made)).toEqual([]);
    }
    for (const kind of ['secrets', `bees.${group}`]) {
      expect(await kubectl.list(kind, '--selector', made, '--all-namespaces')).toEqual([]);
    }
  });

  const patch = { patchStrategicMerge: { metadata: { labels: { escaped: 'yes' } } } };
  const targets = (target: JsonObject): JsonObject => ({ mutate: { targets: [target], ...patch } });

  it('targets', async () => {
    await expectRefused('targets', [
      ...forms('ClusterRole').map((kind) => targets({ apiVersion: rbac, kind })),
      ...forms('Namespace').map((kind) => targets({ apiVersion: 'v1', kind, name: other })),
      ...forms('Hive').map((kind) => targets({ apiVersion: custom, kind, name: 'hive' })),
      ...forms('Unknown').map((kind) => targets({ apiVersion: custom, kind, name: 'x' })),
      ...[...variables(other), "{{ 'e2e-scope-*' }}"].flatMap((elsewhere) => [
        targets({ apiVersion: 'v1', kind: 'Secret', namespace: elsewhere, name: 'foreign' }),
        targets({ apiVersion: 'v1', kind: 'Secret', namespace: elsewhere }),
        targets({ apiVersion: custom, kind: 'Bee', namespace: elsewhere, name: 'bee' }),
        targets({ apiVersion: 'apps/v1', kind: 'Deployment/scale', namespace: elsewhere }),
      ]),
    ]);
    // Wildcards select what is in the namespace.
    const wide = [
      targets({ apiVersion: '*', kind: '*' }),
      targets({ apiVersion: custom, kind: "{{ '*' }}", namespace: "{{ '*' }}" }),
    ];
    expect(await outcomes('wide', wide)).toEqual([
      expect.stringMatching(/^(Completed|Failed): /),
      expect.stringMatching(/^Completed: /),
    ]);
    const labelled = async (...args: string[]) =>
      (await kubectl.list(args[0] ?? '', '--selector=escaped', ...args.slice(1))).map(
        ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`,
      );
    expect(await labelled(`bees.${group}`, '--all-namespaces')).toEqual([`${namespace}/bee`]);
    for (const kind of ['clusterroles', 'namespaces', 'nodes', `hives.${group}`])
      expect(await labelled(kind)).toEqual([]);
    expect(await labelled('secrets', '--namespace', other)).toEqual([]);
  });

  const paths = [
    '/api/v1/nodes',
    '/api/v1/secrets',
    `/api/v1/namespaces/${other}/secrets`,
    `/api/v1/namespaces/${namespace}/%2e%2e/${other}/secrets`,
    `/api/v1/namespaces/${namespace}%2f..%2f${other}/secrets`,
    `/api/v1/namespaces/${namespace}/../${other}/secrets`,
    `/api/v1/namespaces/${namespace}/./secrets`,
    `/api/v1/namespaces/${namespace}//secrets`,
    `//api/v1/namespaces/${namespace}/secrets`,
    `/apis/${custom}/hives`,
    `/apis/${custom}/namespaces/${other}/bees`,
    '/version',
  ];
  const replacement = (source: JsonObject): JsonObject => ({
    mutate: {
      replacements: [
        {
          source: { fieldPath: 'metadata.name', ...source },
          targets: [
            {
              select: { kind: 'ConfigMap' },
              fieldPaths: ['metadata.labels.escaped'],
              options: { create: true },
            },
          ],
        },
      ],
    },
  });
  const reads: readonly (readonly [string, JsonObject])[] = [
    ...paths.flatMap((urlPath) =>
      variables(urlPath).map(
        (value) => [`apiCall ${value}`, { apiCall: { urlPath: value, default: 'x' } }] as const,
      ),
    ),
    ...[
      'http://web.default.svc/',
      'http://kubernetes.default.svc.cluster.local/',
      `http://web.${other}.svc/`,
      'http://127.0.0.1:1/',
    ]
      .flatMap(forms)
      .map((url) => [`service ${url}`, { apiCall: { service: { url } } }] as const),
    [`service out.${namespace}.svc`, { apiCall: { service: { url: `http://out.${namespace}.svc/` } } }],
    ...forms('closed').map((name) => [`globalReference ${name}`, { globalReference: { name } }] as const),
    ...variables(other).map(
      (value) => [`configMap ${value}`, { configMap: { name: 'x', namespace: value } }] as const,
    ),
  ];

  it('apiCall, service calls, globalReference and configMap, in the background', async () => {
    await expectRefused(
      'context',
      reads.map(([, context]) => ({
        context: [{ name: 'it', ...context }],
        mutate: {
          targets: [{ apiVersion: 'v1', kind: 'Secret', name: 'own' }],
          patchStrategicMerge: { metadata: { annotations: { stolen: '{{ to_string(it) }}' } } },
        },
      })),
    );
    expect((await kubectl.get('secret', 'own')).metadata.annotations?.['stolen']).toBeUndefined();
  });

  /** The answer to a request that a policy with one rule mutates: the label it sets, or the message of its failure. */
  async function admitted(name: string, rule: JsonObject): Promise<string> {
    return withPolicies(kubectl, [policy(name, [rule], { failurePolicy: 'Fail' })], async () => {
      const { stdout, stderr } = await kubectl.send(
        'create',
        configMap(`${name}-trigger`),
        '--dry-run=server',
        '-o',
        'json',
      );
      return stderr === '' ? String(JSON.parse(stdout).metadata.labels?.escaped) : stderr;
    });
  }

  it('the same at admission, with replacement sources', async () => {
    const label = {
      mutate: { patchStrategicMerge: { metadata: { labels: { escaped: '{{ to_string(it) }}' } } } },
    };
    const rules: readonly JsonObject[] = [
      {
        context: [
          {
            name: 'it',
            apiCall: {
              urlPath: `/api/v1/namespaces/${namespace}/%2e%2e/${other}/secrets{{ '' }}`,
              default: 'x',
            },
          },
        ],
        ...label,
      },
      { context: [{ name: 'it', apiCall: { service: { url: `http://web.${other}.svc/` } } }], ...label },
      { context: [{ name: 'it', globalReference: { name: 'closed' } }], ...label },
      replacement({ kind: 'Hive', name: 'hive' }),
      replacement({ kind: 'ClusterRole', name: 'cluster-admin' }),
      replacement({ kind: "{{ 'Namespace' }}", name: other }),
      replacement({ kind: 'Unknown', name: 'x' }),
      replacement({ kind: 'Secret', name: 'foreign', namespace: `{{ '${other}' }}` }),
    ];
    // With a wildcard there is no object to read.
    const wildcard = replacement({ kind: 'Bee', name: 'bee', namespace: "{{ 'e2e-scope-*' }}" });
    expect(await admitted('admission-wildcard', wildcard)).toContain('KYM_REPLACEMENT_FAILED');
    for (const [index, rule] of rules.entries()) {
      expect(await admitted(`admission-${index}`, rule), JSON.stringify(rule)).toContain(
        'KYM_NAMESPACE_BOUNDARY',
      );
    }
  });

  it('what is in the namespace, or open to it, is read', async () => {
    const count = {
      mutate: { patchStrategicMerge: { metadata: { labels: { escaped: '{{ to_string(length(it)) }}' } } } },
    };
    const items = {
      context: [
        {
          name: 'it',
          apiCall: { urlPath: `/apis/${custom}/namespaces/${namespace}/bees`, jmesPath: 'items' },
        },
      ],
      ...count,
    };
    expect(await admitted('own-path', items)).toBe('1');
    expect(
      await admitted('own-entry', { context: [{ name: 'it', globalReference: { name: 'open' } }], ...count }),
    ).toBe('1');
    expect(await admitted('own-source', replacement({ kind: 'Bee', name: 'bee' }))).toBe('bee');
  });

  it('literal values are refused when the policy is applied', async () => {
    const rules: readonly JsonObject[] = [
      generate({ apiVersion: rbac, kind: 'ClusterRoleBinding', data: binding }),
      generate({ apiVersion: custom, kind: 'Hive', namespace, data: {} }),
      generate({ apiVersion: custom, kind: 'Hive', clone: { name: 'hive' } }),
      generate({ apiVersion: 'v1', kind: 'Secret', namespace: other, data: {} }),
      generate({ apiVersion: 'v1', kind: 'Secret', namespace, clone: { namespace: other, name: 'foreign' } }),
      { generate: { namespace, cloneList: { namespace: other, kinds: ['v1/Secret'] } } },
      targets({ apiVersion: 'v1', kind: 'Secret', namespace: other }),
      ...paths.map((urlPath) => ({ context: [{ name: 'it', apiCall: { urlPath } }], mutate: patch })),
      replacement({ kind: 'Secret', name: 'foreign', namespace: other }),
    ];
    for (const [index, rule] of rules.entries()) {
      const { code, stderr } = await kubectl.send(
        'create',
        policy(`literal-${index}`, [rule]),
        '--dry-run=server',
      );
      expect({ code, stderr }, JSON.stringify(rule)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/validate\.policy\.kymera\.io" denied the request: .*Policy/),
      });
    }
    const unknown = policy('literal-unknown', [
      generate({ apiVersion: custom, kind: 'Unknown', namespace, data: {} }),
    ]);
    expect((await kubectl.send('create', unknown, '--dry-run=server')).stderr).toContain(
      `the API server does not serve ${custom}/Unknown`,
    );
  });

  it('labels of an object cannot make a rule run for a foreign trigger', async () => {
    const rule = generate({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'stolen',
      namespace,
      synchronize: true,
      data: { data: { text: '{{ to_string(request.object.data) }}' } },
    });
    const labels = {
      'app.kubernetes.io/managed-by': 'kyverno',
      'generate.kyverno.io/policy-name': 'labels',
      'generate.kyverno.io/policy-namespace': namespace,
      'generate.kyverno.io/rule-name': 'r0',
      'generate.kyverno.io/trigger-version': 'v1',
      'generate.kyverno.io/trigger-kind': 'Secret',
      'generate.kyverno.io/trigger-namespace': other,
      'generate.kyverno.io/trigger-name': 'foreign',
    };
    await applyPolicies(kubectl, [policy('labels', [rule])]);
    await kubectl.sendOk('create', configMap('stolen', { text: 'mine' }, labels));
    await kubectl.ok('patch', 'configmap', 'stolen', '-p', '{"data":{"text":"changed"}}');
    await waitFor(
      async () =>
        (await background.updateRequests()).some(
          ({ spec, status }) =>
            spec.rule === 'r0' && spec.policy.endsWith('/labels') && status?.state === 'Skip',
        ),
      { what: 'the UpdateRequest to be skipped' },
    );
    expect((await kubectl.get('configmap', 'stolen'))['data']).toEqual({ text: 'changed' });
    await kubectl.ok('delete', 'policy', 'labels');
  });
});
