import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { kymera } from './in-process.testing.ts';

const pods = "{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}";

/** A MutatingPolicy for Pods whose only mutation is an ApplyConfiguration. */
function mutatingPolicy(name: string, expression: string, more = ''): string {
  return `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: ${name}}
spec:
  matchConstraints: {resourceRules: [${pods}]}
${more}  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: |
        ${expression}
`;
}

function admissionPolicy(spec: string, version = 'v1'): string {
  return `apiVersion: admissionregistration.k8s.io/${version}
kind: MutatingAdmissionPolicy
metadata: {name: map}
spec:
  matchConstraints: {resourceRules: [${pods}]}
  reinvocationPolicy: Never
${spec}`;
}

const binding = (spec: string, name = 'binding') => `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: map, ${spec}}
`;

const label = (expression: string) => `Object{metadata: Object.metadata{labels: {"x": ${expression}}}}`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {containers: [{name: main, image: nginx}]}
`;
const mutation = (expression: string) =>
  `  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '${expression}'}}]\n`;

async function labelsAfter(
  policies: string,
  more: { argv?: readonly string[]; files?: Readonly<Record<string, string>> } = {},
): Promise<{ labels: unknown; stderr: string; exitCode: number }> {
  const { stdout, stderr, exitCode } = await kymera(
    ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml', '-q', ...(more.argv ?? [])],
    { files: { 'policy.yaml': policies, 'pod.yaml': pod, ...more.files } },
  );
  const object = stdout.trim() === '' ? undefined : parse(stdout);
  return { labels: object?.metadata.labels, stderr, exitCode };
}

it.each([
  ['v1alpha1', 'sort needs Kubernetes 1.34'],
  ['v1', undefined],
])(
  'functions that the first API servers with a MutatingAdmissionPolicy of %s lack: %s',
  async (version, warning) => {
    const policy = admissionPolicy(mutation(label('string([2, 1].sort()[0])')), version);
    const { stdout, stderr } = await kymera(['validate', 'policy.yaml'], {
      files: { 'policy.yaml': policy },
    });
    if (warning === undefined) expect(stdout + stderr).not.toContain('needs Kubernetes');
    else expect(stdout + stderr).toContain(warning);
  },
);

describe('a kind without a schema', () => {
  const widget = `apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {size: {a: 1}, list: [1, 2]}
`;
  const policy = (annotation: string, expression: string) =>
    mutatingPolicy('p', expression)
      .replace('{name: p}', `{name: p, annotations: {${annotation}}}`)
      .replace(
        pods,
        "{apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [widgets]}",
      );
  const expression = 'Object{spec: Object.spec{size: Object.spec.size{b: 2}, list: [3]}}';
  const run = (annotation: string, ...argv: readonly string[]) =>
    kymera(['apply', 'policy.yaml', '-r', 'widget.yaml', '-o', 'yaml', ...argv], {
      files: { 'policy.yaml': policy(annotation, expression), 'widget.yaml': widget },
    });

  it('is merged with a warning where the policy allows it', async () => {
    const { stdout, stderr, exitCode } = await run('kymera.io/without-schema: merge');
    expect(parse(stdout).spec).toEqual({ size: { a: 1, b: 2 }, list: [3] });
    expect(stderr).toContain(
      'there is no schema for Widget of example.com/v1: maps are merged by key, and lists are replaced',
    );
    expect(exitCode).toBe(0);
  });

  it.each([
    ['without the annotation', 'a: b', []],
    ['as Kyverno does', 'kymera.io/without-schema: merge', ['--strict-compat']],
  ])('is an error %s', async (_, annotation, argv) => {
    const { stderr, exitCode } = await run(annotation, ...argv);
    expect(stderr).toContain('there is no schema for Widget of example.com/v1');
    expect(exitCode).toBe(1);
  });
});

it('an item without the key that identifies it is added with a warning, also in explain', async () => {
  const expression = 'Object{spec: Object.spec{containers: [Object.spec.containers{image: "x"}]}}';
  const files = { 'policy.yaml': mutatingPolicy('p', expression), 'pod.yaml': pod };
  const { stdout, stderr, exitCode } = await kymera(
    ['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'yaml', '-q'],
    { files },
  );
  expect(parse(stdout).spec.containers).toEqual([{ name: 'main', image: 'nginx' }, { image: 'x' }]);
  expect(stderr).toMatch(/policy.yaml.*\.spec\.containers\[0\]: the item has no name/s);
  expect(exitCode).toBe(0);
  const explained = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml'], { files });
  expect(explained.stdout).toContain('warning: .spec.containers[0]: the item has no name');
});

describe('MutatingPolicy', () => {
  it.each(['resources: ["pod*"]', 'resources: ["po?s"]', 'resources: [pods], apiVersions: ["v?"]'])(
    'matches nothing by a pattern that is not "*": %s',
    async (rule) => {
      const policy = mutatingPolicy('p', label('"y"')).replace(
        pods,
        `{apiGroups: [''], operations: [CREATE], ${rule}${rule.includes('apiVersions') ? '' : ', apiVersions: [v1]'}}`,
      );
      const { labels, stderr } = await labelsAfter(policy);
      expect(labels).toEqual({ app: 'web' });
      expect(stderr).toContain('matches nothing');
    },
  );

  it('runs after ClusterPolicies and MutatingAdmissionPolicies, each on the result of the one before', async () => {
    const clusterPolicy = `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: zz}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {x: cluster}}}}
`;
    const policies = [
      mutatingPolicy('aa', label('object.metadata.labels.x + "-mutating"')),
      '---\n',
      admissionPolicy(mutation(label('object.metadata.labels.x + "-admission"'))),
      binding(''),
      clusterPolicy,
    ].join('');
    const { labels } = await labelsAfter(policies);
    expect(labels).toEqual({ app: 'web', x: 'cluster-admission-mutating' });
  });

  it('merges a custom kind by the schema of its CustomResourceDefinition', async () => {
    const files = {
      'policy.yaml': `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{spec: Object.spec{parts: [Object.spec.parts{id: "b", size: 2}]}}'
`,
      'widget.yaml':
        'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {parts: [{id: a, size: 1}]}\n',
      'crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
                items: {type: object, properties: {id: {type: string}, size: {type: integer}}}
`,
    };
    const without = await kymera(['apply', 'policy.yaml', '-r', 'widget.yaml'], { files });
    expect(without.exitCode).toBe(1);
    expect(without.stderr).toContain('there is no schema for Widget of example.com/v1');
    const { stdout, exitCode } = await kymera(
      ['apply', 'policy.yaml', '-r', 'widget.yaml', '--crd', 'crd.yaml', '-o', 'yaml', '-q'],
      { files },
    );
    expect(exitCode).toBe(0);
    expect(parse(stdout).spec.parts).toEqual([
      { id: 'a', size: 1 },
      { id: 'b', size: 2 },
    ]);
  });

  const orderOf = (more: string) => `string(object.metadata.?labels.?order.orValue("")) + "${more}"`;
  const orderLabel = (more: string) =>
    `Object{metadata: Object.metadata{labels: {"order": ${orderOf(more)}}}}`;
  const mixed = `${mutatingPolicy('first', orderLabel('-mp'))}---
${admissionPolicy(mutation(orderLabel('-map')))}---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: last}
spec: {rules: [{name: r, match: {any: [{resources: {kinds: [Pod]}}]}, mutate: {patchStrategicMerge: {metadata: {labels: {order: cp}}}}}]}
`;

  it('matches a custom kind by the plural name and the scope of its CustomResourceDefinition', async () => {
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: chassis.example.com}
spec:
  group: example.com
  names: {kind: Chassis, plural: chassis}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
    const policy = mutatingPolicy('p', label('request.resource.resource + request.namespace')).replace(
      pods,
      '{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [chassis], scope: Cluster}',
    );
    const { stdout } = await kymera(
      ['apply', 'p.yaml', '-r', 'c.yaml', '--crd', 'crd.yaml', '-o', 'yaml', '-q'],
      {
        files: {
          'p.yaml': policy,
          'c.yaml': 'apiVersion: example.com/v1\nkind: Chassis\nmetadata: {name: c}\n',
          'crd.yaml': definition,
        },
      },
    );
    expect(parse(stdout).metadata).toEqual({ name: 'c', labels: { x: 'chassis' } });
  });

  it('is tested in the order in which policies are applied', async () => {
    expect((await labelsAfter(mixed)).labels).toEqual({ app: 'web', order: 'cp-map-mp' });
    const { stdout, exitCode } = await kymera(['test', '.'], {
      files: {
        'policy.yaml': mixed,
        'pod.yaml': pod,
        'patched.yaml': pod.replace('app: web', 'app: web, order: cp-map-mp'),
        'kyverno-test.yaml': `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: order}
policies: [policy.yaml]
resources: [pod.yaml]
results: [{policy: first, isMutatingPolicy: true, kind: Pod, resources: [web], result: pass, patchedResources: patched.yaml}]
`,
      },
    });
    expect(stdout).toContain('1 passed');
    expect(exitCode).toBe(0);
  });

  it('is tested with the object of the request as it came in', async () => {
    const seen = `${mutatingPolicy('a', label('"y"'))}---
${mutatingPolicy('b', 'Object{metadata: Object.metadata{labels: {"seen": string("x" in request.object.metadata.labels)}}}')}`;
    const { stdout } = await kymera(['test', '.'], {
      files: {
        'policy.yaml': seen,
        'pod.yaml': pod,
        'patched.yaml': pod.replace('app: web', 'app: web, x: "y", seen: "false"'),
        'kyverno-test.yaml': `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: seen}
policies: [policy.yaml]
resources: [pod.yaml]
results: [{policy: b, isMutatingPolicy: true, kind: Pod, resources: [web], result: pass, patchedResources: patched.yaml}]
`,
      },
    });
    expect(stdout).toContain('1 passed');
  });

  it('is explained in the order in which policies ran, with the values of optionals', async () => {
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml', '--no-color'], {
      files: { 'policy.yaml': mixed, 'pod.yaml': pod },
    });
    expect([...stdout.matchAll(/policy (\w+)$/gm)].map(([, name]) => name)).toEqual(['last', 'map', 'first']);
    expect(stdout).toContain('object.metadata.?labels.?order is "cp-map"');
    expect(stdout).not.toContain('optional_type');
  });

  it('is tested with results that name no rule', async () => {
    const test = (patched: string) => `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [policy.yaml]
resources: [pod.yaml]
results:
- {policy: p, isMutatingPolicy: true, kind: Pod, resources: [web], result: pass, patchedResources: ${patched}}
`;
    const files = {
      'policy.yaml': mutatingPolicy('p', label('"y"')),
      'pod.yaml': pod,
      'good.yaml': pod.replace('app: web', "app: web, x: 'y'"),
      'kyverno-test.yaml': test('good.yaml'),
      'bad/kyverno-test.yaml': test('../pod.yaml').replaceAll(/\[(policy|pod)\.yaml\]/g, '[../$1.yaml]'),
    };
    const { stdout, exitCode } = await kymera(['test', 'kyverno-test.yaml'], { files });
    expect(stdout).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
    expect((await kymera(['test', 'bad'], { files })).exitCode).toBe(1);
  });

  it('is explained with the value of each part of its conditions', async () => {
    const condition = `  matchConditions:\n  - {name: prod, expression: 'object.metadata.labels.app == "web" && object.metadata.name == "db"'}\n`;
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'pod.yaml'], {
      files: { 'policy.yaml': mutatingPolicy('p', label('"y"'), condition), 'pod.yaml': pod },
    });
    expect(stdout).toContain('skipped: the match condition prod is false');
    expect(stdout).toContain('object.metadata.labels.app is "web"');
    expect(stdout).toContain('object.metadata.name == "db" is false');
  });

  it('is created, listed by migrate check, and built into kustomizations', async () => {
    const created = await kymera(['create', 'policy', 'labels', '--cel', '--kind', 'Pod', 'Ingress']);
    expect(created.stdout).toContain('apiGroups: ["networking.k8s.io"]');
    const files = {
      'policy.yaml': created.stdout,
      'pod.yaml': pod,
      'kustomization.yaml': 'resources: [pod.yaml]\ntransformers: [policy.yaml]\n',
    };
    const migrated = await kymera(['migrate', 'check', 'policy.yaml'], { files });
    expect(migrated.stdout).toMatch(/MutatingPolicy labels +runs unchanged/);
    const built = await kymera(['build', '.'], { files });
    expect(built.stdout).toContain('owner: nobody');
  });

  it('translates annotations and variables with parts of the object for pod controllers', async () => {
    const variables = `  auditAnnotations: [{key: count, valueExpression: 'string(object.spec.containers.size())'}]
  variables: [{name: parts, expression: 'object.spec.containers.map(c, Object.spec.containers{name: c.name, tty: true})'}]
`;
    const policy = mutatingPolicy('p', 'Object{spec: Object.spec{containers: variables.parts}}', variables);
    const job =
      'apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: main, image: a}]}}}\n';
    const { stdout, exitCode } = await kymera(['apply', 'p.yaml', '-r', 'job.yaml', '-o', 'yaml', '-q'], {
      files: { 'p.yaml': policy, 'job.yaml': job },
    });
    expect(parse(stdout).spec.template.spec.containers).toEqual([{ name: 'main', image: 'a', tty: true }]);
    expect(exitCode).toBe(0);
  });

  it('follows Kyverno for pod controllers only with --strict-compat', async () => {
    const files = {
      'policy.yaml': mutatingPolicy('p', label('"y"')),
      'deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m}]}}}
`,
    };
    const argv = ['apply', 'policy.yaml', '-r', 'deployment.yaml', '-o', 'yaml', '-q'];
    const { stdout } = await kymera(argv, { files });
    expect(parse(stdout).spec.template.metadata.labels).toEqual({ a: 'b', x: 'y' });
    const strict = await kymera([...argv, '--strict-compat'], { files });
    expect(strict.exitCode).toBe(1);
    expect(strict.stderr).toContain('unexpected type name "Object.metadata"');
  });
});

describe('problems inside expressions', () => {
  it.each([
    [
      'a block scalar',
      '      expression: |\n        Object{metadata: Object.metadata{\n          labels: {"a": nope}}}\n',
      '15:25',
    ],
    [
      'a folded scalar',
      '      expression: >-\n        Object{metadata: Object.metadata{\n          labels: {"a": nope}}}\n',
      '15:25',
    ],
    [
      'single quotes',
      `      expression: 'Object{metadata: Object.metadata{labels: {"a": nope}}}'\n`,
      '13:67',
    ],
    [
      'double quotes',
      '      expression: "Object{metadata: Object.metadata{labels: {\\"a\\": nope}}}"\n',
      '13:69',
    ],
    ['an escape before it', '      expression: "true ||\\nnope"\n', '13:29'],
    [
      'escaped characters before it',
      '      expression: "\\"\\u00e9\\x41\\U0001F389🎉\\" == nope"\n',
      '13:50',
    ],
    [
      'folded lines in double quotes',
      '      expression: "true\n\n\n        || \\\n          nope"\n',
      '17:11',
    ],
    [
      'folded lines in double quotes after an escape',
      '      expression: "\\"\\u00e9\\" ==\n        nope"\n',
      '14:9',
    ],
  ])('have the line and column of %s', async (_, expression, place) => {
    const text = `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata:
  name: p
# A comment.
spec:
  matchConstraints:
    resourceRules:
    - ${pods}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
${expression}`;
    const { stdout, stderr, exitCode } = await kymera(['validate', 'policy.yaml'], {
      files: { 'policy.yaml': text },
    });
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain(`policy.yaml:${place}: error: undeclared reference to 'nope'`);
  });

  it.each([
    ['does not parse', 'Object{', 'KYM_CEL_INVALID'],
    ['nests too deeply', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, 'KYM_CEL_INVALID'],
    ['is a megabyte long', `Object{} ${'/'.repeat(1_000_000)}`, 'KYM_CEL_INVALID'],
    ['names an unknown function', label('frobnicate(1)'), 'KYM_CEL_INVALID'],
    ['has another type', '{"a": 1}', 'output is expected to be of type Object'],
    ['is a number', '42', 'output is expected to be of type Object'],
    ['is of the other form', '[JSONPatch{op: "add", path: "/a"}]', 'Set patchType to JSONPatch'],
    ['is empty', '""', 'output is expected to be of type Object'],
    ['is a variable of older policies', '{{ request.object }}', 'CEL has no {{ }}'],
  ])('an expression that %s is a problem with a place', async (_, expression, message) => {
    const { stdout, stderr, exitCode } = await kymera(['validate', 'policy.yaml'], {
      files: { 'policy.yaml': mutatingPolicy('p', expression) },
    });
    expect(exitCode).toBe(1);
    expect((stdout + stderr).slice(0, 5_000_000)).toContain(message);
    expect(stdout + stderr).toMatch(/policy\.yaml:\d+:\d+: error/);
  });

  it.each([
    [['apply', 'policy.yaml', '-r', 'pod.yaml'], 2],
    [['explain', 'policy.yaml', '-r', 'pod.yaml'], 2],
    [['test', '.'], 2],
    [['build', '.', '--policies', 'policy.yaml'], 2],
    [['validate', 'policy.yaml'], 1],
  ])('a mistake has a place and a hint in kymera %j', async (argv, expected) => {
    const { stdout, stderr, exitCode } = await kymera(argv, {
      files: {
        'policy.yaml': mutatingPolicy('p', label('string(len(object.spec.containers))')),
        'pod.yaml': pod,
        'kustomization.yaml': 'resources: [pod.yaml]\n',
        'kyverno-test.yaml': `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [policy.yaml]
resources: [pod.yaml]
results: [{policy: p, isMutatingPolicy: true, kind: Pod, resources: [web], result: pass}]
`,
      },
    });
    expect(stdout + stderr).toMatch(/policy\.yaml:10:66: error: undeclared reference to 'len'/);
    expect(stdout + stderr).toMatch(/10 \| +Object\{.*\n +\| +\^\n/);
    expect(stdout + stderr).toContain('hint: Use size(…).');
    expect(exitCode).toBe(expected);
  });

  it('an expression that exhausts the budget fails, and names the expression', async () => {
    const list = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]';
    const loops = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].reduce(
      (body, name) => `${list}.all(${name}, ${body})`,
      'true',
    );
    const { stderr, exitCode } = await labelsAfter(mutatingPolicy('p', label(`string(${loops})`)));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('KYM_BUDGET_EXHAUSTED');
    expect(stderr).toContain('mutations');
  });

  it('a configuration that shares parts with itself costs what it stands for', async () => {
    const bomb = Array.from({ length: 40 }, (_, index) => index).reduceRight<string>(
      (body, index) =>
        `cel.bind(v${index}, ${index === 0 ? 'dyn(Object.spec{})' : `[v${index - 1}, v${index - 1}]`}, ${body})`,
      'Object{spec: v39}',
    );
    const { stderr, exitCode } = await labelsAfter(mutatingPolicy('p', bomb));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('KYM_BUDGET_EXHAUSTED');
  });

  it('a mutation without its body, a condition of type dyn and a name that is used twice are reported together', async () => {
    const text = `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [${pods}]}
  matchConditions: [{name: a, expression: object.spec.x}, {name: a, expression: 'true'}]
  mutations: [{patchType: JSONPatch}]
`;
    const { stdout, stderr } = await kymera(['validate', 'policy.yaml'], { files: { 'policy.yaml': text } });
    expect(stdout + stderr).toContain('a mutation of type JSONPatch needs jsonPatch');
    expect(stdout + stderr).toContain(
      'output is expected to be of type bool, but the expression is of type dyn',
    );
    expect(stdout + stderr).toContain('the name a is used twice');
  });
});

describe('MutatingAdmissionPolicy', () => {
  it.each(['v1', 'v1beta1', 'v1alpha1'])('of %s runs without a binding, and says so', async (version) => {
    const { labels, stderr } = await labelsAfter(admissionPolicy(mutation(label('"y"')), version));
    expect(labels).toEqual({ app: 'web', x: 'y' });
    expect(stderr).toContain('no binding was given');
  });

  it('matches what both the policy and the binding match', async () => {
    const policies = admissionPolicy(mutation(label('"y"')));
    const other = binding('matchResources: {namespaceSelector: {matchLabels: {team: other}}}');
    expect((await labelsAfter(policies + other)).labels).toEqual({ app: 'web' });
    const own = binding('matchResources: {objectSelector: {matchLabels: {app: web}}}');
    expect((await labelsAfter(policies + own)).labels).toEqual({ app: 'web', x: 'y' });
  });

  const paramKind = '  paramKind: {apiVersion: v1, kind: ConfigMap}\n';
  const cm = (name: string, value: string, namespace = 'shop') =>
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, labels: {kind: params}}\ndata: {v: ${value}}\n`;
  const withParams = (expression: string, ref: string, params: string) =>
    labelsAfter(admissionPolicy(paramKind + mutation(expression)) + binding(ref), {
      argv: ['--target-resource', 'params.yaml'],
      files: { 'params.yaml': params },
    });

  it('gets its parameter by name, from the namespace of the request or from the one that is given', async () => {
    const ref = 'paramRef: {name: a, parameterNotFoundAction: Deny}';
    const objects = cm('a', 'here') + cm('a', 'there', 'other');
    expect((await withParams(label('params.data.v'), ref, objects)).labels).toEqual({
      app: 'web',
      x: 'here',
    });
    const elsewhere = 'paramRef: {name: a, namespace: other, parameterNotFoundAction: Deny}';
    expect((await withParams(label('params.data.v'), elsewhere, objects)).labels).toEqual({
      app: 'web',
      x: 'there',
    });
  });

  it('runs once per parameter that a selector finds, by name', async () => {
    const ref = 'paramRef: {selector: {matchLabels: {kind: params}}, parameterNotFoundAction: Deny}';
    const joined = label('object.metadata.?labels.x.orValue("") + params.data.v');
    expect((await withParams(joined, ref, cm('b', 'two') + cm('a', 'one'))).labels).toEqual({
      app: 'web',
      x: 'onetwo',
    });
  });

  it('does nothing or fails when there is no parameter, as the binding says', async () => {
    const ref = (action: string) => `paramRef: {name: none, parameterNotFoundAction: ${action}}`;
    const allowed = await withParams(label('params.data.v'), ref('Allow'), cm('a', 'x'));
    expect(allowed.labels).toEqual({ app: 'web' });
    expect(allowed.exitCode).toBe(0);
    const denied = await withParams(label('params.data.v'), ref('Deny'), cm('a', 'x'));
    expect(denied.exitCode).toBe(1);
    expect(denied.stderr).toContain('no params found');
  });

  it.each([
    ['name: s', 'core'],
    ['selector: {matchLabels: {a: b}}', 'core'],
    ['name: s, namespace: shop', undefined],
  ])('gets a parameter without a namespace, if its kind has none: %s', async (ref, value) => {
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: settings.example.com}
spec: {group: example.com, names: {kind: Setting, plural: settings}, scope: Cluster, versions: [{name: v1, served: true, storage: true}]}
`;
    const policy = admissionPolicy(
      `  paramKind: {apiVersion: example.com/v1, kind: Setting}\n${mutation(label('string(params.team)'))}`,
    );
    const { labels, stderr } = await labelsAfter(
      policy + binding(`paramRef: {${ref}, parameterNotFoundAction: Deny}`),
      {
        argv: ['--target-resource', 'setting.yaml', '--crd', 'crd.yaml'],
        files: {
          'crd.yaml': definition,
          'setting.yaml':
            'apiVersion: example.com/v1\nkind: Setting\nmetadata: {name: s, labels: {a: b}}\nteam: core\n',
        },
      },
    );
    expect(labels).toEqual(value === undefined ? { app: 'web' } : { app: 'web', x: value });
    if (value === undefined) expect(stderr).toContain('paramRef.namespace must not be provided');
  });

  it('keeps the changes of other bindings when one has no parameter and failures are ignored', async () => {
    const policy = admissionPolicy(
      `${paramKind}  failurePolicy: Ignore\n${mutation(label('params.data.v'))}`,
    );
    const ref = (name: string) => `paramRef: {name: ${name}, parameterNotFoundAction: Deny}`;
    const { labels, stderr } = await labelsAfter(
      policy + binding(ref('a'), 'a') + binding(ref('none'), 'b'),
      {
        argv: ['--target-resource', 'params.yaml'],
        files: { 'params.yaml': cm('a', 'one') },
      },
    );
    expect(labels).toEqual({ app: 'web', x: 'one' });
    expect(stderr).toContain('no params found');
  });

  it('is selected by the object as it was before all policies of its kind', async () => {
    const second = admissionPolicy(mutation('Object{metadata: Object.metadata{labels: {"z": "1"}}}'))
      .replace('name: map', 'name: second')
      .replace('matchConstraints: {', 'matchConstraints: {objectSelector: {matchLabels: {x: "y"}}, ');
    const policies = `${admissionPolicy(mutation(label('"y"')))}---\n${second}`;
    expect((await labelsAfter(policies)).labels).toEqual({ app: 'web', x: 'y' });
  });

  it('is not evaluated for policies and reviews', async () => {
    const everything = admissionPolicy(mutation(label('"y"'))).replace(
      pods,
      pods.replace("['']", "['*']").replace('pods', '"*"'),
    );
    const object = (apiVersion: string, kind: string) =>
      `---\napiVersion: ${apiVersion}/v1\nkind: ${kind}\nmetadata: {name: a}\nspec: {}\n`;
    const { stdout, exitCode } = await kymera(['apply', 'p.yaml', '-r', 'o.yaml', '-o', 'yaml', '-q'], {
      files: {
        'p.yaml': everything,
        'o.yaml':
          object('authorization.k8s.io', 'SubjectAccessReview') +
          object('authentication.k8s.io', 'TokenReview') +
          object('admissionregistration.k8s.io', 'ValidatingAdmissionPolicy') +
          object('networking.k8s.io', 'Ingress'),
      },
    });
    const changed = parseAllDocuments(stdout).map((each) => each.toJS());
    expect(changed.filter(({ metadata }) => metadata.labels !== undefined)).toMatchObject([
      { kind: 'Ingress' },
    ]);
    expect(exitCode).toBe(0);
  });

  it('has null as params without paramRef', async () => {
    const { labels } = await withParams(label('string(params == null)'), 'matchResources: {}', cm('a', 'x'));
    expect(labels).toEqual({ app: 'web', x: 'true' });
  });

  it('goes on after a mutation that fails, and keeps the others if failures are ignored', async () => {
    const failing = `  failurePolicy: Ignore
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"x": object.nope}}}'}}
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: '${label('"kept"')}'}}
`;
    const ignored = await labelsAfter(admissionPolicy(failing) + binding(''));
    expect(ignored.labels).toEqual({ app: 'web', x: 'kept' });
    const fail = await labelsAfter(admissionPolicy(failing.replace('Ignore', 'Fail')) + binding(''));
    expect(fail.exitCode).toBe(1);
    expect(fail.labels).toEqual({ app: 'web' });
  });

  it.each([
    [
      'variables in conditions',
      `  matchConditions: [{name: a, expression: 'variables.b'}]\n  variables: [{name: b, expression: 'true'}]\n${mutation('Object{}')}`,
      "undeclared reference to 'variables'",
    ],
    [
      'libraries of Kyverno',
      mutation(label('resource.Get("v1", "configmaps", "a", "b").data.x')),
      "Kubernetes does not have 'resource'",
    ],
    ['params without paramKind', mutation(label('params.x')), "undeclared reference to 'params'"],
    ['DELETE', `${mutation('Object{}')}`.replace('  mutations', '  mutations'), 'cannot match DELETE'],
  ])('cannot use %s', async (what, spec, message) => {
    const text = admissionPolicy(spec);
    const policy =
      what === 'DELETE' ? text.replace('operations: [CREATE, UPDATE]', 'operations: [DELETE]') : text;
    const { stdout, stderr, exitCode } = await kymera(['validate', 'p.yaml'], {
      files: { 'p.yaml': policy },
    });
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain(message);
  });
});
