import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { celCompilers } from '../policy/cel/language.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { loadDocuments } from '../policy/load.ts';
import { parseYamlText } from '../yaml/parse-text.ts';
import { checkConversion } from './checked-conversion.ts';
import { convertPolicy } from './policy.ts';
import { generateObjects } from './proof/generate-objects.ts';
import { prove } from './proof/prove.ts';
import type { ConversionTarget } from './types.ts';

function load(text: string): readonly CompiledPolicy[] {
  const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text }], { cel: celCompilers });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return policies;
}

/** Converted policies have no warnings either. */
function loadConverted(text: string): readonly CompiledPolicy[] {
  const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text }], { cel: celCompilers });
  expect(problems.map(({ message }) => message)).toEqual([]);
  return policies;
}

function policy(kinds: string, ...rules: readonly string[]): string {
  const indented = rules.map((rule, index) => {
    const body = rule.trim().replaceAll('\n', '\n    ');
    return `  - name: rule-${index}\n    match: {any: [{resources: {kinds: [${kinds}]}}]}\n    ${body}`;
  });
  const annotations = '{pod-policies.kyverno.io/autogen-controllers: none}';
  return `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: old, annotations: ${annotations}}
spec:
  rules:
${indented.join('\n')}
`;
}

function convert(text: string, to: ConversionTarget = 'mutatingpolicy') {
  return convertPolicy(parseYamlText(text) as JsonObject, { to });
}

async function proveConversion(old: string, to: ConversionTarget) {
  const { documents, refusals } = convert(old, to);
  expect(refusals).toEqual([]);
  const text = documents.map((document) => document.text).join('---\n');
  const [before, after] = [load(old), loadConverted(text)];
  const samples = generateObjects([...before, ...after], { limit: 300 });
  return prove({ policies: before }, { policies: after }, samples);
}

const overlay = (yaml: string): string =>
  `mutate:\n  patchStrategicMerge:\n    ${yaml.trim().replaceAll('\n', '\n    ')}`;
const jsonPatch = (yaml: string): string =>
  `mutate:\n  patchesJson6902: |-\n    ${yaml.trim().replaceAll('\n', '\n    ')}`;

const pod: readonly (readonly [string, string])[] = [
  ['labels', overlay('metadata: {labels: {team: platform, +(env): dev}}')],
  ['a label with a prefix', overlay('metadata: {labels: {+(example.com/team): platform}}')],
  ['an empty map', overlay('metadata: {labels: {}}')],
  ['a number where a string is declared', overlay('spec: {nodeSelector: {port: 80}, hostname: 7}')],
  ['a struct', overlay('spec: {securityContext: {runAsNonRoot: true, +(fsGroup): 1000}}')],
  ['deletion', overlay('spec: {nodeName: null, nodeSelector: {zone: null}}')],
  ['a condition', overlay('spec: {(hostNetwork): true, dnsPolicy: ClusterFirstWithHostNet}')],
  [
    'a condition with a wildcard',
    overlay('metadata: {labels: {(app): "web-*|api"}, annotations: {seen: "yes"}}'),
  ],
  ['a condition with a number', overlay('spec: {(priority): ">5 & <100", +(priorityClassName): high}')],
  ['a nested condition', overlay('metadata: {(labels): {app: web}, annotations: {seen: "yes"}}')],
  [
    'a global condition',
    overlay('spec: {containers: [{<(image): "*:latest"}]}\nmetadata: {annotations: {latest: "true"}}'),
  ],
  [
    'items that a condition selects',
    overlay('spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}'),
  ],
  [
    'fields that items lack',
    overlay(
      'spec: {containers: [{(name): "*", +(imagePullPolicy): Always, resources: {requests: {+(cpu): 100m}}}]}',
    ),
  ],
  [
    'loops that change the same field',
    `mutate:
  foreach:
  - list: request.object.spec.containers
    patchStrategicMerge: {metadata: {labels: {last: "{{ element.name }}"}}}`,
  ],
  ['an item by its name', overlay('spec: {containers: [{name: app, +(tty): true}]}')],
  [
    'an item that is added',
    overlay('spec: {containers: [{name: proxy, image: "proxy:1"}], volumes: [{name: tmp, emptyDir: {}}]}'),
  ],
  [
    'nested lists',
    overlay(
      'spec: {containers: [{(name): "*", env: [{name: ZONE, value: a}], volumeMounts: [{name: tmp, mountPath: /tmp}]}]}',
    ),
  ],
  ['a list that is replaced', overlay('spec: {tolerations: [{key: a, operator: Exists}]}')],
  ['a set', overlay('metadata: {finalizers: [example.com/a, example.com/b]}')],
  [
    'an item that is deleted',
    overlay(
      'spec: {volumes: [{name: tmp, $patch: delete}], containers: [{(name): "*", volumeMounts: [{mountPath: /tmp, $patch: delete}]}]}',
    ),
  ],
  ['a map that is replaced', overlay('spec: {securityContext: {$patch: replace, runAsUser: 1}}')],
  [
    'a list that is replaced by a directive',
    overlay('spec: {volumes: [{$patch: replace}, {name: only, emptyDir: {}}]}'),
  ],
  [
    'values of a list that are deleted',
    overlay('metadata: {$deleteFromPrimitiveList/finalizers: [example.com/a]}'),
  ],
  [
    'ports with two keys',
    overlay('spec: {containers: [{(name): "*", ports: [{containerPort: 80, name: http}]}]}'),
  ],
  [
    'variables',
    overlay(
      'metadata: {annotations: {name: "pod {{ request.object.metadata.name }}", +(node): "{{ request.object.spec.nodeName }}"}}',
    ),
  ],
  ['the value itself', overlay('metadata: {(labels): {app: "?*"}, labels: {app: "{{@}}-x"}}')],
  [
    'parents that are created',
    jsonPatch(
      '- {op: add, path: /metadata/annotations/a~1b, value: x}\n- {op: add, path: /spec/tolerations/-, value: {key: a}}',
    ),
  ],
  ['an item that is appended', jsonPatch('- {op: add, path: /spec/tolerations/-, value: {key: a}}')],
  ['removal', jsonPatch('- {op: remove, path: /metadata/labels/app}\n- {op: remove, path: /spec/volumes/0}')],
  [
    'replacement, which fails without a value',
    jsonPatch('- {op: replace, path: /spec/nodeName, value: other}'),
  ],
  [
    'a test, which fails',
    jsonPatch(
      '- {op: test, path: /metadata/labels/app, value: web}\n- {op: add, path: /metadata/labels/tier, value: front}',
    ),
  ],
  [
    'operations on the same path',
    jsonPatch(
      '- {op: add, path: /metadata/labels/a, value: x}\n- {op: copy, from: /metadata/labels/a, path: /metadata/labels/b}\n- {op: remove, path: /metadata/labels/a}',
    ),
  ],
  [
    'a loop with a merge',
    'mutate:\n  foreach:\n  - list: request.object.spec.containers\n    patchStrategicMerge: {spec: {containers: [{(name): "{{ element.name }}", image: "mirror/{{ element.image }}"}], volumes: [{name: tmp, emptyDir: {}}]}}',
  ],
  [
    'a loop with conditions',
    'mutate:\n  foreach:\n  - list: request.object.spec.containers\n    preconditions: {all: [{key: "{{ element.image }}", operator: Equals, value: "*:latest"}]}\n    patchesJson6902: |-\n      - {op: add, path: "/spec/containers/{{elementIndex}}/imagePullPolicy", value: Always}\n      - {op: add, path: "/metadata/annotations/{{element.name}}", value: latest}',
  ],
  [
    'a nested loop',
    'mutate:\n  foreach:\n  - list: request.object.spec.containers\n    foreach:\n    - list: "element.ports || `[]`"\n      patchesJson6902: |-\n        - {op: remove, path: "/spec/containers/{{elementIndex0}}/ports/{{elementIndex1}}/hostPort"}',
  ],
  [
    'a loop that removes',
    'mutate:\n  foreach:\n  - list: "request.object.spec.volumes || `[]`"\n    order: Descending\n    preconditions: {all: [{key: "{{ element.name }}", operator: Equals, value: tmp*}]}\n    patchesJson6902: |-\n      - {op: remove, path: "/spec/volumes/{{elementIndex}}"}',
  ],
  [
    'preconditions',
    `preconditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: CREATE}]}\n${overlay('metadata: {labels: {new: "yes"}}')}`,
  ],
];

describe('a rule as a MutatingPolicy', () => {
  it.each(pod)('converts %s', async (_name, rule) => {
    const { difference, changed } = await proveConversion(policy('Pod', rule), 'mutatingpolicy');
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(0);
  });
});

describe('a rule as a MutatingAdmissionPolicy', () => {
  it.each(pod)('converts %s', async (_name, rule) => {
    const { difference, changed } = await proveConversion(policy('Pod', rule), 'map');
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(0);
  });
});

describe('convertPolicy', () => {
  it('gives the same bytes each time', () => {
    for (const [, rule] of pod) expect(convert(policy('Pod', rule))).toEqual(convert(policy('Pod', rule)));
  });

  it.each([
    ['a boolean', overlay('spec: {(flag): true, text: x}')],
    ['null', overlay('spec: {(text): "null", size: 1}')],
    ['what it is not', overlay('spec: {(text): "!x", size: 1}')],
    ['a list, where an object may have a map', overlay('spec: {list: [a]}')],
    ['a map, where an object may have a list', overlay('spec: {map: {a: b}}')],
    ['a scalar, where an object may have a map', overlay('spec: {text: a}')],
    ['a map that is deleted', overlay('spec: {map: {$patch: delete}}')],
    [
      'a projection of what may be no list',
      `preconditions: {all: [{key: x, operator: AnyIn, value: "{{ request.object.spec.list[].name }}"}]}
${overlay('metadata: {labels: {a: b}}')}`,
    ],
    [
      'a list inside of what may be no map',
      `preconditions: {all: [{key: x, operator: AnyIn, value: "{{ request.object.spec.list.items[].name }}"}]}
${overlay('metadata: {labels: {a: b}}')}`,
    ],
    ['a test that nothing follows', jsonPatch('- {op: test, path: /spec/size, value: 3}')],
    [
      'a path through values that are no maps',
      `preconditions: {all: [{key: "{{ request.object.spec.a.b }}", operator: Equals, value: x}]}
${overlay('metadata: {labels: {a: b}}')}`,
    ],
  ])('converts custom resources with %s', async (_title, rule) => {
    for (const kinds of ['example.com/v1/Widget', 'Pod, example.com/v1/Widget']) {
      const proof = await proveConversion(policy(kinds, rule), 'mutatingpolicy');
      expect(proof.difference).toBeUndefined();
    }
  });

  it.each([
    ['containers', overlay('spec: {containers: [{name: a, imagePullPolicy: Always}]}')],
    ['ports', overlay('spec: {containers: [{(name): "*", ports: [{containerPort: 80, hostPort: 1}]}]}')],
    ['volumes', overlay('spec: {volumes: [{name: a, emptyDir: {medium: Memory}}]}')],
  ])('changes the last of several %s with the same key', async (_title, rule) => {
    const text = policy('Pod', rule);
    const { documents } = convert(text);
    const ports = [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }];
    const containers = [
      { name: 'a', image: 'a:1', ports },
      { name: 'a', image: 'a:2' },
    ];
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'a', emptyDir: {} },
    ];
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'b' } };
    const sample = { origin: 'test', operation: 'CREATE', namespaceLabels: {} } as const;
    const after = loadConverted(documents.map((document) => document.text).join('---\n'));
    const { changed, difference } = await prove({ policies: load(text) }, { policies: after }, [
      { ...sample, object: { ...object, spec: { containers, volumes } } },
    ]);
    expect({ changed, difference }).toEqual({ changed: 1 });
  });

  it.each([
    [`{{ ${'trim_prefix('.repeat(40)}request.object.metadata.name${", 'a')".repeat(40)} }}`],
    [`{{ request.object.spec.a${'.b[-1]'.repeat(40)} }}`],
  ])('refuses an expression that grows without limit: %s', (key) => {
    for (const to of ['mutatingpolicy', 'map'] as const) {
      const rule = `preconditions: {all: [{key: "${key}", operator: Equals, value: x}]}
${overlay('metadata: {labels: {a: b}}')}`;
      expect(convert(policy('Pod', rule), to)).toMatchObject({
        documents: [],
        refusals: [{ rule: 'rule-0', reason: expect.stringContaining('more than 100000 characters') }],
      });
    }
  });

  it('refuses variables that grow without limit in the conditions of a MutatingAdmissionPolicy', () => {
    const entry = (index: number): string =>
      index === 0
        ? '{name: v0, variable: {value: "{{ request.object.metadata.name }}"}}'
        : `{name: v${index}, variable: {value: "{{ v${index - 1} }}{{ v${index - 1} }}"}}`;
    const rule = `context: [${Array.from({ length: 40 }, (_item, index) => entry(index)).join(', ')}]
preconditions: {all: [{key: "{{ v39 }}", operator: Equals, value: x}]}
${overlay('metadata: {labels: {a: b}}')}`;
    expect(convert(policy('Pod', rule)).refusals).toEqual([]);
    expect(convert(policy('Pod', rule), 'map').refusals).toMatchObject([
      { reason: expect.stringContaining('more than 100000 characters') },
    ]);
  });

  it('converts custom resources, of which only the metadata is known', async () => {
    const rule = overlay('metadata: {labels: {a: b}}\nspec: {size: 3, +(mode): fast, tags: [x]}');
    const { difference } = await proveConversion(policy('example.com/v1/Widget', rule), 'mutatingpolicy');
    expect(difference).toBeUndefined();
  });

  it('makes one policy of rules with the same match, so that a failure drops all changes', async () => {
    const old = policy(
      'ConfigMap',
      overlay('metadata: {labels: {first: "yes"}}'),
      `preconditions: {all: [{key: "{{ request.object.metadata.labels.first }}", operator: Equals, value: "yes"}]}\n${overlay('metadata: {labels: {second: "yes"}}')}`,
      jsonPatch('- {op: replace, path: /data/key, value: x}'),
    );
    const { documents, differences } = convert(old);
    expect(documents.map(({ document }) => (document['metadata'] as JsonObject)['name'])).toEqual(['old']);
    expect(differences).toEqual([]);
    const { difference, changed } = await proveConversion(old, 'mutatingpolicy');
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(0);
  });

  it('reports the lost transaction of rules that match differently, and names the policies in the order of the rules', () => {
    const first = policy('Pod', overlay('metadata: {labels: {a: b}}'));
    const old = `${first}  - name: another
    match: {any: [{resources: {kinds: [Pod, Service]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {c: d}}}}
`;
    const ignoring = old.replace('spec:\n', 'spec:\n  webhookConfiguration: {failurePolicy: Ignore}\n');
    const { documents, differences } = convert(ignoring);
    expect(documents.map(({ document }) => (document['metadata'] as JsonObject)['name'])).toEqual([
      'old-1-rule-0',
      'old-2-another',
    ]);
    expect(documents.map(({ document }) => (document['spec'] as JsonObject)['failurePolicy'])).toEqual([
      'Ignore',
      'Ignore',
    ]);
    // A failure that is not ignored denies the request.
    expect(convert(old).differences).toEqual([]);
    expect(differences).toEqual([expect.objectContaining({ rule: 'another', path: 'spec.rules[1]' })]);
  });

  it('makes policies of the rules for pod controllers', async () => {
    const rule = overlay('spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}');
    const old = policy('Pod', rule).replace(
      'autogen-controllers: none',
      'autogen-controllers: "Deployment,CronJob"',
    );
    const { documents } = convert(old);
    expect(documents.map(({ document }) => (document['metadata'] as JsonObject)['name'])).toEqual([
      'old-rule-0',
      'old-autogen-rule-0',
      'old-autogen-cronjob-rule-0',
    ]);
    const { difference, changed } = await proveConversion(old, 'mutatingpolicy');
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(0);
  });

  it('writes readable YAML with the origin of each expression', () => {
    const rule = overlay(
      'metadata: {labels: {+(team): "{{ request.namespace }}"}}\nspec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}',
    );
    const { documents } = convert(policy('Pod', rule));
    expect(documents[0]?.text).toMatchInlineSnapshot(`
      "# Converted from ClusterPolicy old, rule rule-0.
      apiVersion: policies.kyverno.io/v1
      kind: MutatingPolicy
      metadata:
        name: old-rule-0
      spec:
        reinvocationPolicy: IfNeeded
        autogen:
          podControllers:
            controllers: []
        matchConstraints:
          resourceRules:
          - apiGroups:
            - ""
            apiVersions:
            - '*'
            operations:
            - CREATE
            - UPDATE
            resources:
            - pods
            - pods/ephemeralcontainers
        variables:
          # spec.rules[0].mutate.patchStrategicMerge.spec.containers
          - name: containers
            expression: |-
              object.?spec.?containers.orValue(null) == null ? [] : object.spec.containers
        mutations:
          # Rule rule-0: spec.rules[0].mutate.patchStrategicMerge
          - patchType: JSONPatch
            jsonPatch:
              expression: |-
                (object.metadata.?labels.orValue(null) == null
                   ? [JSONPatch{op: "add", path: '/metadata/labels', value: {}}]
                   : []) +
                (!object.metadata.?labels.?team.hasValue()
                   ? [JSONPatch{op: "add", path: '/metadata/labels/team', value: request.namespace}]
                   : []) +
                variables.containers.transformList(i, container,
                  container.?image.orValue(null) != null && container.image.endsWith(':latest'),
                  JSONPatch{op: "add", path: '/spec/containers/' + string(i) + '/imagePullPolicy', value: 'Always'}
                )
      "
    `);
  });

  it('keeps the comments and annotations of the author', () => {
    const source = policy(
      'ConfigMap',
      `# Billing needs it.\n${overlay('# The owner.\nmetadata: {labels: {a: b}}')}`,
    )
      .replace('kind:', '# Labels for all.\nkind:')
      .replace('annotations: {', 'annotations: {example.com/owner: team-a, ');
    const { documents } = convertPolicy(parseYamlText(source) as JsonObject, {
      to: 'mutatingpolicy',
      source,
    });
    const [converted] = documents;
    expect(converted?.document['metadata']).toMatchObject({ annotations: { 'example.com/owner': 'team-a' } });
    expect(converted?.text).toMatch(/^# Labels for all\.\n# Converted from/);
    expect(converted?.text).toContain('    # Billing needs it.\n    # The owner.\n    # Rule rule-0: ');
  });

  it('applies only the first rule that changes the object', async () => {
    const old = policy(
      'Pod',
      overlay('metadata: {labels: {+(first): "yes"}}'),
      overlay('metadata: {labels: {+(second): "yes"}}'),
      overlay('spec: {(hostNetwork): true, dnsPolicy: Default}'),
    ).replace('spec:', 'spec:\n  applyRules: One');
    const { difference, changed } = await proveConversion(old, 'mutatingpolicy');
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(0);
    expect(convert(old, 'map').refusals).toEqual([expect.objectContaining({ path: 'spec.applyRules' })]);
  });

  it('writes settings of the policy', () => {
    const old = policy('ConfigMap', overlay('metadata: {labels: {a: b}}')).replace(
      'spec:',
      'spec:\n  failurePolicy: Ignore\n  background: false\n  webhookTimeoutSeconds: 5',
    );
    expect(convert(old).documents[0]?.document['spec']).toMatchObject({
      failurePolicy: 'Ignore',
      evaluation: { background: { enabled: false } },
      webhookConfiguration: { timeoutSeconds: 5 },
    });
    const [map, binding] = convert(old, 'map').documents;
    expect(map?.document).toMatchObject({
      kind: 'MutatingAdmissionPolicy',
      spec: { failurePolicy: 'Ignore' },
    });
    expect(binding?.document).toMatchObject({ spec: { policyName: 'old-rule-0' } });
  });

  const conditioned = (expression: string, rule: string, more = ''): string =>
    policy('Pod', rule).replace(
      'spec:\n',
      `spec:\n  webhookConfiguration: {${more}matchConditions: [{name: own, expression: ${JSON.stringify(expression)}}]}\n`,
    );
  const labelled = overlay('metadata: {labels: {+(a): b}}');
  const anchored = overlay('metadata: {labels: {(app): web}, annotations: {seen: "yes"}}');

  it.each([
    ['alone', 'object.spec.containers.size() > 1', labelled, ''],
    ['with conditions of the rule', "object.metadata.labels.app != 'api' // fails without it", anchored, ''],
    ['that fails and is ignored', "object.metadata.labels.app != 'api'", labelled, 'failurePolicy: Ignore, '],
  ])('keeps a condition of the webhook: %s', async (_name, expression, rule, more) => {
    const old = conditioned(expression, rule, more);
    for (const to of ['mutatingpolicy', 'map'] as const) {
      const { difference, changed, compared } = await proveConversion(old, to);
      expect(difference).toBeUndefined();
      expect(changed).toBeGreaterThan(0);
      expect(changed).toBeLessThan(compared);
    }
    // The proof sees the condition.
    const [text = ''] = convert(policy('Pod', rule)).documents.map((document) => document.text);
    const [before, after] = [load(old), loadConverted(text)];
    const samples = generateObjects([...before, ...after], { limit: 300 });
    expect((await prove({ policies: before }, { policies: after }, samples)).difference).toBeDefined();
  });

  it.each([
    ['mutatingpolicy', 'oldObject == null', /an empty object in a MutatingPolicy/],
    ['mutatingpolicy', "authorizer.group('').resource('pods').check('get').allowed()", /no authorizer/],
    ['mutatingpolicy', 'namespaceObject == null', /always null/],
    ['map', 'namespaceObject == null', /always null/],
    ['map', 'nothing == null', /not valid in Kubernetes/],
    ['map', "'text'", /not of type bool/],
  ] as const)(
    'refuses a condition of the webhook that has another value in a %s: %s',
    (to, expression, reason) => {
      const { documents, refusals } = convert(conditioned(expression, labelled), to);
      expect(documents).toEqual([]);
      const path = 'spec.webhookConfiguration.matchConditions[0].expression';
      expect(refusals).toEqual([{ path, reason: expect.stringMatching(reason) }]);
    },
  );

  const target = (fields: string, patch = 'patchStrategicMerge: {metadata: {labels: {a: b}}}'): string =>
    policy('ConfigMap', `mutate:\n  targets: [{apiVersion: v1, kind: Secret, ${fields}}]\n  ${patch}`);

  it.each([
    ['a name', 'name: copy'],
    ['a name and a namespace', 'name: copy, namespace: default'],
    ['the namespace of the trigger', 'name: copy, namespace: "{{ request.object.metadata.namespace }}"'],
    ['a pattern', 'name: "co*", namespace: "de*"'],
    ['labels', 'selector: {matchLabels: {app: web}}'],
    ['labels of the trigger', 'selector: {matchLabels: {app: "{{ request.object.metadata.name }}"}}'],
    ['an expression of labels', 'selector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}'],
    ['a name, whatever the labels', 'name: copy, namespace: default, selector: {matchLabels: {app: web}}'],
    ['preconditions', 'preconditions: {all: [{key: "{{ target.type }}", operator: Equals, value: Opaque}]}'],
  ])('proves a rule for existing objects that are selected by %s', async (_title, fields) => {
    for (const onPolicyUpdate of [true, false]) {
      const text = target(fields).replace(
        'mutate:',
        `mutate:\n      mutateExistingOnPolicyUpdate: ${onPolicyUpdate}`,
      );
      const [old] = load(text);
      if (old === undefined) throw new Error('the policy does not load');
      const { status, problems, proof } = await checkConversion(old, convert(text), { limit: 60 });
      expect({ status, problems, difference: proof?.difference }).toEqual({ status: 'proven', problems: [] });
      expect(proof?.existing).toBeGreaterThan(0);
    }
  });

  it('tests the anchors of a patch for existing objects on each of them', async () => {
    const text = target('name: "*"', 'patchStrategicMerge: {metadata: {(name): "!kube*", labels: {a: b}}}');
    const [old] = load(text);
    if (old === undefined) throw new Error('the policy does not load');
    const { status, proof } = await checkConversion(old, convert(text), { limit: 60 });
    expect({ status, difference: proof?.difference }).toEqual({ status: 'proven' });
  });

  it('does not call a rule proven that changed no existing object', async () => {
    const text = target(
      'name: copy',
      'patchesJson6902: "- {op: replace, path: /spec/endpoints/1, value: x}"',
    );
    const [old] = load(text);
    if (old === undefined) throw new Error('the policy does not load');
    const { status } = await checkConversion(old, convert(text), { limit: 20 });
    expect(status).toBe('unproven');
  });

  it('finds a difference in what happens to existing objects', async () => {
    const text = target('name: copy');
    const [old] = load(text);
    if (old === undefined) throw new Error('the policy does not load');
    const { status, proof } = await checkConversion(old, convert(text.replace('a: b', 'a: c')), {
      limit: 60,
    });
    expect(status).toBe('differs');
    expect(proof?.difference?.fault).toMatchObject({
      objectPath: '/metadata/labels/a',
      message: 'the existing objects differ afterwards',
    });
  });

  it('converts a rule for existing objects', () => {
    const rule = `mutate:
  targets: [{apiVersion: v1, kind: Secret, namespace: "{{ request.object.metadata.namespace }}", name: copy}]
  patchStrategicMerge: {metadata: {labels: {from: "{{ request.object.metadata.name }}", old: "{{ target.metadata.name }}"}}}`;
    const { documents, differences } = convert(policy('ConfigMap', rule));
    loadConverted(documents.map(({ text }) => text).join('---\n'));
    expect(documents[0]?.document['spec']).toMatchObject({
      evaluation: { mutateExisting: { enabled: true } },
      targetMatchConstraints: {
        expression: "resource.Get('v1', 'secrets', request.object.metadata.namespace, 'copy')",
      },
      mutations: [
        {
          applyConfiguration: {
            expression: expect.stringContaining("'from': string(request.object.metadata.name)"),
          },
        },
      ],
    });
    expect(differences).toEqual([]);
    expect(convert(policy('ConfigMap', rule), 'map').refusals).toEqual([
      expect.objectContaining({ path: 'spec.rules[0].mutate.targets' }),
    ]);
  });

  it.each([
    ['validate: {}', 'spec.rules[0].validate'],
    [overlay('spec: {$retainKeys: [a], a: 1}'), 'spec.rules[0].mutate.patchStrategicMerge.spec.$retainKeys'],
    [
      overlay('spec: {containers: [{image: x}]}'),
      'spec.rules[0].mutate.patchStrategicMerge.spec.containers[0]',
    ],
    [jsonPatch('- {op: add, path: /spec/volumes/-2, value: x}'), 'spec.rules[0].mutate.patchesJson6902[0]'],
    // `1.10` becomes 1.1, `007` becomes 7, and `null` is nothing.
    [
      jsonPatch('- {op: add, path: /metadata/labels/app, value: {{ request.object.metadata.labels.app }}}'),
      'spec.rules[0].mutate.patchesJson6902[0].value',
    ],
    [
      overlay('metadata: {labels: {(app): "*{{ request.namespace }}*"}, annotations: {seen: "yes"}}'),
      'spec.rules[0].mutate.patchStrategicMerge.metadata.labels.(app)',
    ],
    [
      overlay(
        'metadata: {labels: {(app): "{{ request.object.metadata.labels.tier }}"}, annotations: {seen: "yes"}}',
      ),
      'spec.rules[0].mutate.patchStrategicMerge.metadata.labels.(app)',
    ],
  ])('refuses %s', (rule, path) => {
    const { documents, refusals } = convert(policy('Pod', rule));
    expect(documents).toEqual([]);
    expect(refusals).toEqual([expect.objectContaining({ rule: 'rule-0', path })]);
  });

  it('converts the rules that can be converted, if a part is wanted', () => {
    const old = policy('ConfigMap', 'validate: {}', overlay('metadata: {labels: {a: b}}'));
    const { documents, refusals } = convertPolicy(parseYamlText(old) as JsonObject, {
      to: 'mutatingpolicy',
      partial: true,
    });
    expect(documents).toHaveLength(1);
    expect(refusals).toHaveLength(1);
  });
});
