import { describe, expect, it, test } from 'vitest';
import { requestFor } from '../../admission/resource-request.ts';
import type { Request } from '../../engine/request.ts';
import { loadDocuments } from '../../policy/load.ts';
import { evaluation, object, policyFrom, policyWith, requestOf, trigger } from '../policy.testing.ts';
import { triggerOutcomes } from './triggered-rules.ts';

const targets =
  'mutate: {targets: [{apiVersion: v1, kind: Secret}], patchStrategicMerge: {metadata: {labels: {a: b}}}}';
const generate =
  'generate: {synchronize: true, apiVersion: v1, kind: Secret, name: s, namespace: ns, data: {data: {}}}';
const block = (resources: string) => `match: {any: [{resources: {${resources}}}]}`;

async function verdict(...args: Parameters<typeof triggerOutcomes>): Promise<string[]> {
  const outcomes = await triggerOutcomes(...args);
  return outcomes.map((outcome) =>
    outcome.status === 'skipped' ? `skipped ${outcome.reason.type}` : outcome.status,
  );
}
const match = (rule: string, request = requestOf(trigger), more = {}) =>
  verdict(request, policyWith(rule), { ...evaluation, ...more });

describe('operations', () => {
  const any = block('kinds: [ConfigMap]');
  const deletes = block('kinds: [ConfigMap], operations: [DELETE]');
  test.each([
    ['no list', any, 'CREATE', 'passed'],
    ['no list', any, 'UPDATE', 'passed'],
    ['no list', any, 'DELETE', 'skipped operation'],
    ['no list', any, 'CONNECT', 'skipped operation'],
    ['no list', any, null, 'passed'],
    ['DELETE', deletes, 'DELETE', 'passed'],
    ['DELETE', deletes, 'CREATE', 'skipped match'],
    ['a list, and there is no request', deletes, null, 'skipped match'],
  ] as const)('%s: %s %s gives %s', async (_, kinds, operation, expected) => {
    expect(await match(`${kinds}, ${targets}`, requestOf(trigger, operation))).toEqual([expected]);
  });
});

describe('a connection', () => {
  const options = { apiVersion: 'v1', kind: 'PodExecOptions', command: ['ls'] };
  const entered: Request = {
    ...requestFor(options, {
      operation: 'CONNECT',
      subresource: 'exec',
      parentKind: { group: '', version: 'v1', kind: 'Pod' },
    }),
    name: 'web',
    namespace: 'ns',
  };
  const rule = (more: string) => `${block(`kinds: [Pod/exec], operations: [CONNECT]${more}`)}, ${targets}`;
  test.each([
    ['', 'passed'],
    [', names: [web], namespaces: [ns]', 'passed'],
    [', names: [other]', 'skipped match'],
    [', namespaces: [other]', 'skipped match'],
  ])('whose options have no metadata is that of the Pod: %s gives %s', async (more, expected) => {
    expect(await match(rule(more), entered)).toEqual([expected]);
  });
  it('is a trigger of a Policy in its namespace', async () => {
    expect(await verdict(entered, policyWith(rule(''), '{}', 'Policy'), evaluation)).toEqual(['passed']);
  });
});

describe('without a request', () => {
  const background = requestOf(trigger, null);
  test.each([
    [
      'subjects',
      `match: {any: [{resources: {kinds: [ConfigMap]}, subjects: [{kind: User, name: x}]}]}, ${targets}`,
    ],
    [
      'roles in exclude',
      `match: {any: [{resources: {kinds: [ConfigMap]}}]}, exclude: {any: [{clusterRoles: [x]}]}, ${targets}`,
    ],
    [
      'the user in an expression',
      `preconditions: {all: [{key: "{{ request.userInfo.username }}", operator: Equals, value: x}]}, ${targets}`,
    ],
    [
      'the service account',
      `preconditions: {all: [{key: "{{ serviceAccountName }}", operator: Equals, value: x}]}, ${targets}`,
    ],
  ])('a rule that reads %s does not match', async (_, rule) => {
    const policy = policyWith(rule, '{background: false}');
    expect(await verdict(background, policy, evaluation)).toEqual(['skipped userInfo']);
  });

  it('expressions see the operation BACKGROUND', async () => {
    const rule = `preconditions: {all: [{key: "{{ request.operation || 'BACKGROUND' }}", operator: Equals, value: BACKGROUND}]}, ${targets}`;
    expect(await match(rule, background)).toEqual(['passed']);
    expect(await match(rule)).toEqual(['skipped preconditions']);
  });
});

describe('the user of a request', () => {
  const own = requestFor(trigger, {
    user: {
      info: { username: 'system:serviceaccount:kymera:background', groups: [] },
      roles: [],
      clusterRoles: [],
    },
  });
  const settings = { backgroundUser: 'system:serviceaccount:kymera:background' };
  it('requests of the background are passed over', async () => {
    expect(await match(targets, own, settings)).toEqual(['skipped ownRequest']);
    expect(await match(generate, own, settings)).toEqual(['skipped ownRequest']);
  });
  it('unless the rule wants them', async () => {
    expect(await match(`skipBackgroundRequests: false, ${targets}`, own, settings)).toEqual(['passed']);
  });
});

describe('what else decides', () => {
  it('exclude, namespace, exceptions and preconditions', async () => {
    const excluded = `match: {any: [{resources: {kinds: [ConfigMap]}}]}, exclude: {any: [{resources: {names: [trigger]}}]}, ${targets}`;
    expect(await match(excluded)).toEqual(['skipped exclude']);
    const elsewhere = object('ConfigMap', 'other/trigger');
    expect(await verdict(requestOf(elsewhere), policyWith(targets, '{}', 'Policy'), evaluation)).toEqual([
      'skipped namespace',
    ]);
    const { exceptions } = loadDocuments([
      {
        file: 'e.yaml',
        text: '{apiVersion: kyverno.io/v2, kind: PolicyException, metadata: {name: e, namespace: ns}, spec: {exceptions: [{policyName: p, ruleNames: [r]}], match: {any: [{resources: {kinds: [ConfigMap]}}]}}}',
      },
    ]);
    expect(await match(targets, requestOf(trigger), { exceptions })).toEqual(['skipped exception']);
  });

  it('a precondition that cannot be evaluated is a failure', async () => {
    const rule = `preconditions: {all: [{key: "{{ request.object.none }}", operator: Equals, value: x}]}, ${targets}`;
    const [outcome] = await triggerOutcomes(requestOf(trigger), policyWith(rule), evaluation);
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'KYM_VARIABLE_UNRESOLVED' } });
  });

  it('rules without targets are ignored; the others keep their order', async () => {
    const policy = policyFrom(`
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - {name: one, ${block('kinds: [ConfigMap]')}, ${generate}}
  - {name: two, ${block('kinds: [ConfigMap]')}, mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}}
  - {name: three, ${block('kinds: [ConfigMap]')}, ${targets}}
`);
    const outcomes = await triggerOutcomes(requestOf(trigger), policy, evaluation);
    expect(outcomes.map(({ type, rule }) => `${type} ${rule.name}`)).toEqual([
      'generate one',
      'mutate three',
    ]);
  });

  it('with applyRules One the first rule that is not skipped is the last', async () => {
    const policy = policyFrom(`
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  applyRules: One
  rules:
  - {name: one, ${block('kinds: [ConfigMap], names: [none]')}, ${targets}}
  - {name: two, ${block('kinds: [ConfigMap]')}, ${targets}}
  - {name: three, ${block('kinds: [ConfigMap]')}, ${targets}}
`);
    expect(await verdict(requestOf(trigger), policy, evaluation)).toEqual([
      'skipped match',
      'passed',
      'skipped applyRules',
    ]);
  });
});

describe('a trigger that is one no more', () => {
  const labelled = `${block('kinds: [ConfigMap], selector: {matchLabels: {team: a}}')}, ${generate}`;
  const other = object('ConfigMap', 'ns/trigger', { metadata: { uid: 'u-1', labels: { team: 'b' } } });

  it('is withdrawn when it is deleted, or no longer matches', async () => {
    expect(await match(labelled, requestOf(trigger, 'DELETE'))).toEqual(['withdrawn']);
    expect(await match(labelled, requestOf(other, 'UPDATE', trigger))).toEqual(['withdrawn']);
    expect(await match(labelled, requestOf(other, 'UPDATE', other))).toEqual(['skipped match']);
    expect(await match(labelled.replace('synchronize: true, ', ''), requestOf(trigger, 'DELETE'))).toEqual([
      'skipped operation',
    ]);
  });

  it('generates on deletion when the rule lists DELETE', async () => {
    const rule = `${block('kinds: [ConfigMap], operations: [DELETE]')}, ${generate}`;
    expect(await match(rule, requestOf(trigger, 'DELETE'))).toEqual(['passed']);
  });

  it('is not withdrawn by an operation that the rule does not list', async () => {
    const rule = `${block('kinds: [ConfigMap], operations: [CREATE]')}, ${generate}`;
    expect(await match(rule, requestOf(trigger, 'UPDATE', trigger))).toEqual(['skipped match']);
    expect(await match(rule, requestOf(trigger, 'DELETE'))).toEqual(['withdrawn']);
  });

  it('is withdrawn when its preconditions no longer hold', async () => {
    const rule = `preconditions: {all: [{key: "{{ request.object.metadata.labels.team }}", operator: Equals, value: a}]}, ${generate}`;
    expect(await match(rule, requestOf(other, 'UPDATE', trigger))).toEqual(['withdrawn']);
    expect(await match(rule, requestOf(other, 'UPDATE', other))).toEqual(['skipped preconditions']);
  });
});
