import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../json/json-text.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { loadDocuments } from '../../policy/load.ts';
import { generateObjects } from './generate-objects.ts';
import { prove } from './prove.ts';

const oldLabels = `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: labels, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}
spec:
  rules:
  - name: label
    match: {any: [{resources: {kinds: [Pod, ConfigMap], namespaces: ["team-*"], operations: [CREATE, UPDATE]}}]}
    exclude: {any: [{resources: {selector: {matchLabels: {skip: "true"}}}}]}
    preconditions:
      all:
      - {key: "{{ request.object.metadata.labels.app || '' }}", operator: NotEquals, value: ""}
      - {key: "{{ request.object.metadata.annotations.level || \`0\` }}", operator: LessThan, value: 5}
    mutate:
      patchStrategicMerge:
        metadata: {labels: {team: platform, +(env): dev}}
`;
const newLabels = `
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: labels-label}
spec:
  autogen: {podControllers: {controllers: []}}
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods, configmaps]}
  variables:
  - name: labels
    expression: 'type(object.metadata.?labels.orValue(null)) == map ? object.metadata.labels : {}'
  - name: level
    expression: 'type(object.metadata.?annotations.orValue(null)) == map ? object.metadata.annotations[?"level"].orValue("0") : "0"'
  matchConditions:
  - {name: namespace, expression: 'request.namespace.startsWith("team-")'}
  - {name: not-skipped, expression: 'variables.labels[?"skip"].orValue("") != "true"'}
  - {name: has-app, expression: '!(variables.labels[?"app"].orValue("") in [dyn(""), dyn(null)])'}
  - {name: level, expression: 'variables.level == "" || variables.level.matches("^-?[0-9]+([.][0-9]+)?$") && double(variables.level) < 5.0'}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: |
        Object{metadata: Object.metadata{labels: {
          "team": "platform",
          ?"env": "env" in variables.labels ? optional.none() : optional.of("dev")}}}
`;

const oldContainers = `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: containers, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}
spec:
  background: false
  rules:
  - name: pull
    match:
      any:
      - resources: {kinds: [Pod]}
        subjects: [{kind: Group, name: developers}]
    mutate:
      foreach:
      - list: request.object.spec.containers
        preconditions:
          all:
          - {key: "{{ element.image }}", operator: Equals, value: "*:latest"}
        patchesJson6902: |-
          - {op: add, path: "/spec/containers/{{elementIndex}}/imagePullPolicy", value: Always}
`;
const newContainers = `
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: containers-pull}
spec:
  autogen: {podControllers: {controllers: []}}
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}
  matchConditions:
  - {name: developer, expression: '"developers" in request.userInfo.groups'}
  variables:
  - name: containers
    expression: 'object.spec.containers == null ? [] : object.spec.containers'
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: |
        lists.range(variables.containers.size())
          .filter(i, variables.containers[i].image.endsWith(":latest"))
          .map(i, JSONPatch{op: "add", path: "/spec/containers/" + string(i) + "/imagePullPolicy", value: "Always"})
`;

interface Plant {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** The clause that the proof must name. */
  readonly at?: string;
}

const label = 'spec.mutations[0].applyConfiguration.expression';
const patch = 'spec.mutations[0].jsonPatch.expression';
const plantedInLabels: readonly Plant[] = [
  { what: 'another value', from: '"platform"', to: '"Platform"', at: label },
  { what: 'another key', from: '"team":', to: '"teams":', at: label },
  { what: 'another default', from: 'of("dev")', to: 'of("prod")', at: label },
  { what: 'an overwritten default', from: '"env" in variables.labels ?', to: 'false ?', at: label },
  { what: 'a default that is never set', from: '"env" in variables.labels ?', to: 'true ?', at: label },
  { what: 'a missing kind', from: '[pods, configmaps]', to: '[pods]', at: 'spec.matchConstraints' },
  { what: 'an additional kind', from: '[pods, configmaps]', to: '[pods, configmaps, services]', at: label },
  { what: 'a missing operation', from: '[CREATE, UPDATE]', to: '[CREATE]', at: 'spec.matchConstraints' },
  { what: 'a shorter prefix', from: 'startsWith("team-")', to: 'startsWith("team")', at: label },
  {
    what: 'a suffix for a prefix',
    from: 'startsWith("team-")',
    to: 'endsWith("team-")',
    at: 'spec.matchConditions[0].expression',
  },
  { what: 'an exclusion by another value', from: '!= "true"', to: '!= "false"' },
  {
    what: 'an exclusion by presence',
    from: '.orValue("") != "true"',
    to: '.hasValue() == false',
    at: 'spec.matchConditions[1].expression',
  },
  {
    what: 'a condition that holds without the field',
    from: '[?"app"].orValue("")',
    to: '[?"app"].orValue("x")',
    at: label,
  },
  { what: 'an empty string that counts', from: 'in [dyn("")', to: 'in [dyn("none")', at: label },
  { what: 'a bound that is included', from: '< 5', to: '<= 5', at: label },
  { what: 'another bound', from: '< 5', to: '< 4', at: 'spec.matchConditions[3].expression' },
  {
    what: 'an unguarded field',
    from: "'type(object.metadata.?labels.orValue(null)) == map ? object.metadata.labels : {}'",
    to: "'object.metadata.labels'",
  },
];
const plantedInContainers: readonly Plant[] = [
  { what: 'a value without its type', from: 'value: "Always"', to: 'value: ["Always"]', at: patch },
  {
    what: 'the first item only',
    from: 'variables.containers.size()',
    to: '(variables.containers.size() > 0 ? 1 : 0)',
    at: patch,
  },
  { what: 'an index that is off by one', from: 'string(i)', to: 'string(i + 1)' },
  { what: 'all items', from: '.endsWith(":latest")', to: '.contains("")', at: patch },
  { what: 'a match inside the text', from: '.endsWith(":latest")', to: '.contains(":latest")', at: patch },
  { what: 'letters of any case', from: '.image.endsWith', to: '.image.lowerAscii().endsWith', at: patch },
  {
    what: 'another group',
    from: '"developers" in',
    to: '"developer" in',
    at: 'spec.matchConditions[0].expression',
  },
  {
    what: 'the user for the group',
    from: '"developers" in request.userInfo.groups',
    to: 'request.userInfo.username == "developers"',
    at: 'spec.matchConditions[0].expression',
  },
  { what: 'another field', from: '/imagePullPolicy', to: '/terminationMessagePath', at: patch },
  {
    what: 'failures that are ignored',
    from: '  matchConditions:',
    to: '  failurePolicy: Ignore\n  matchConditions:',
    at: patch,
  },
  {
    what: 'an absent list that is no error',
    from: 'object.spec.containers == null ?',
    to: 'object.?spec.?containers.orValue(null) == null ?',
    at: patch,
  },
];

function load(text: string): readonly CompiledPolicy[] {
  const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text }], { cel: celCompilers });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return policies;
}

async function proveTexts(old: string, converted: string) {
  const forms = [{ policies: load(old) }, { policies: load(converted) }] as const;
  const samples = generateObjects([...forms[0].policies, ...forms[1].policies]);
  return prove(forms[0], forms[1], samples);
}

describe.each([
  { name: 'labels', old: oldLabels, converted: newLabels, planted: plantedInLabels, rule: 'label' },
  {
    name: 'containers',
    old: oldContainers,
    converted: newContainers,
    planted: plantedInContainers,
    rule: 'pull',
  },
])('the proof of $name', ({ old, converted, planted, rule }) => {
  it('finds no difference between equal forms, on objects that are changed and objects that are not', async () => {
    const { difference, compared, changed } = await proveTexts(old, converted);
    expect(difference).toBeUndefined();
    expect(changed).toBeGreaterThan(50);
    expect(compared - changed).toBeGreaterThan(50);
  });

  it.each(planted)('finds $what', async ({ from, to, at }) => {
    expect(converted).toContain(from);
    const { difference } = await proveTexts(old, converted.replace(from, to));
    expect(difference?.fault.rule).toBe(rule);
    if (at !== undefined) expect(difference?.fault.path).toBe(at);
  });
});

describe('generated objects', () => {
  it('are the same on each run, and bounded', () => {
    const policies = load(oldLabels);
    expect(generateObjects(policies)).toEqual(generateObjects(policies));
    expect(generateObjects(policies, { limit: 30 })).toHaveLength(30);
  });
});

describe('generated custom resources', () => {
  it('have values of all types, null, lists with null, and no value', () => {
    const samples = generateObjects(
      load(`
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: widgets}
spec:
  rules:
  - name: list
    match: {any: [{resources: {kinds: [example.com/v1/Widget]}}]}
    mutate: {patchStrategicMerge: {spec: {list: [a]}}}
`),
    );
    const specs = new Set(
      samples
        .filter(({ object }) => object['kind'] === 'Widget')
        .map(({ object }) => stringifyJson(object['spec'] ?? null)),
    );
    for (const list of ['null', '{}', '[]', '[null]', '""', '0', 'true', '{"a":"b"}'])
      expect(specs).toContain(`{"list":${list}}`);
    expect(specs).toContain('{}');
    expect(specs).toContain('null');
  });
});
