import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { compileFilter } from './compile/match.ts';
import type { CompiledException, CompiledPolicy, CompiledRule } from './compiled.ts';
import { type CandidateKey, createSnapshot } from './registry.ts';

const silent = { error: () => {}, warn: () => {} };

function rule(name: string, match: JsonObject, targets?: []): CompiledRule {
  return {
    name,
    path: [],
    match: compileFilter(match, ['match'], silent) ?? {},
    context: [],
    mutation: { type: 'replacements', replacements: [] },
    ...(targets === undefined ? {} : { targets }),
    mutateExistingOnPolicyUpdate: false,
    repeatable: true,
    skipBackgroundRequests: true,
    document: {},
  };
}

function policy(name: string, rules: readonly CompiledRule[], namespace?: string): CompiledPolicy {
  return {
    key: namespace === undefined ? name : `${namespace}/${name}`,
    kind: namespace === undefined ? 'ClusterPolicy' : 'Policy',
    apiVersion: 'kyverno.io/v1',
    name,
    ...(namespace === undefined ? {} : { namespace }),
    rules,
    generateRules: [],
    otherRules: [],
    applyRules: 'All',
    failurePolicy: 'Fail',
    emitWarning: false,
    matchConditions: [],
    annotations: {},
    labels: {},
    source: { file: 'f', line: 1 },
    document: {},
  };
}

const kinds = (...names: string[]): JsonObject => ({ any: [{ resources: { kinds: names } }] });
const podCreate: CandidateKey = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  subresource: '',
  operation: 'CREATE',
  namespace: 'a',
};

function found(policies: readonly CompiledPolicy[], key: Partial<CandidateKey> = {}): string[] {
  return createSnapshot(policies)
    .candidates({ ...podCreate, ...key })
    .flatMap((candidate) => candidate.rules.map((each) => `${candidate.policy.key}:${each.name}`));
}

describe('the index', () => {
  const policies = [
    policy('pods', [rule('r', kinds('Pod')), rule('s', kinds('Service'))]),
    policy('any', [rule('w', kinds('*')), rule('all', { all: [{ resources: { kinds: ['P*'] } }] })]),
    policy('deployments', [rule('r', kinds('apps/v1/Deployment'))]),
    policy('status', [rule('r', kinds('Pod/status'))]),
  ];

  it.each([
    [{}, ['any:w', 'any:all', 'pods:r']],
    [{ subresource: 'status' }, ['status:r']],
    [{ subresource: 'ephemeralcontainers' }, ['any:w', 'any:all', 'pods:r']],
    [{ group: 'apps', kind: 'Deployment' }, ['any:w', 'deployments:r']],
    [{ group: 'extensions', kind: 'Deployment' }, ['any:w']],
    [{ kind: 'constructor' }, ['any:w']],
  ])('finds what could apply to %j', (key, expected) => {
    expect(found(policies, key)).toEqual(expected);
  });

  it('a rule stands once, however many of its blocks fit', () => {
    const twice = { any: [{ resources: { kinds: ['Pod', 'v1/Pod'] } }, { resources: { kinds: ['Pod'] } }] };
    expect(found([policy('p', [rule('r', twice)])])).toEqual(['p:r']);
  });

  it('every block of all must fit', () => {
    const match = { all: [{ resources: { kinds: ['Pod'] } }, { resources: { kinds: ['Service'] } }] };
    expect(found([policy('p', [rule('r', match)])])).toEqual([]);
  });

  it('answers the same key with the same list', () => {
    const snapshot = createSnapshot(policies);
    expect(snapshot.candidates({ ...podCreate })).toBe(snapshot.candidates({ ...podCreate, namespace: 'b' }));
  });

  it('forgets, rather than grows without end', () => {
    const snapshot = createSnapshot(policies);
    for (let i = 0; i < 10_000; i++) snapshot.candidates({ ...podCreate, kind: `K${i}` });
    expect(snapshot.candidates(podCreate)).toHaveLength(2);
  });

  it('does not even look at policies for other kinds', () => {
    const untouchable = rule('r', kinds('Service'));
    const throwing = {
      ...untouchable.match.any?.[0]?.kinds?.[0]?.kind,
      matches: () => {
        throw new Error('looked at');
      },
    };
    const block = untouchable.match.any?.[0];
    const match = {
      any: [{ ...block, kinds: [{ ...block?.kinds?.[0], kind: throwing }] }],
    } as CompiledRule['match'];
    const others = Array.from({ length: 1_000 }, (_, i) => policy(`p${i}`, [{ ...untouchable, match }]));
    expect(found([...others, ...policies])).toEqual(['any:w', 'any:all', 'pods:r']);
    expect(() => found(others, { kind: 'Service' })).toThrow('looked at');
  });
});

describe('order', () => {
  const given = [
    policy('zeta', [rule('r', kinds('Pod'))]),
    policy('beta', [rule('r', kinds('Pod'))], 'a'),
    policy('Alpha', [rule('2', kinds('Pod')), rule('1', kinds('*'))]),
    policy('alpha', [rule('r', kinds('Pod'))], 'a'),
  ];

  it('cluster policies by name, then those of the namespace; rules as written', () => {
    expect(found(given)).toEqual(['Alpha:2', 'Alpha:1', 'zeta:r', 'a/alpha:r', 'a/beta:r']);
  });

  it('or as given', () => {
    const snapshot = createSnapshot(given, [], { order: 'given' });
    expect(snapshot.candidates(podCreate).map((candidate) => candidate.policy.name)).toEqual([
      'zeta',
      'beta',
      'Alpha',
      'alpha',
    ]);
  });
});

describe('namespaces', () => {
  const policies = [policy('p', [rule('r', kinds('Pod'))], 'a')];
  it.each([
    ['a', ['a/p:r']],
    ['b', []],
    ['', []],
  ])('a namespaced policy acts in its own only: %j', (namespace, expected) => {
    expect(found(policies, { namespace })).toEqual(expected);
  });
});

describe('operations', () => {
  const listing = (...operations: string[]): JsonObject => ({
    any: [{ resources: { kinds: ['Pod'], operations } }],
  });
  const policies = [
    policy('p', [
      rule('default', kinds('Pod')),
      rule('create', listing('CREATE')),
      rule('all-four', listing('CREATE', 'UPDATE', 'DELETE', 'CONNECT')),
      rule('existing', kinds('Pod'), []),
      rule('existing-delete', listing('DELETE'), []),
    ]),
  ];

  it.each([
    ['CREATE', ['p:default', 'p:create', 'p:all-four', 'p:existing']],
    ['UPDATE', ['p:default', 'p:all-four', 'p:existing']],
    ['CONNECT', ['p:all-four', 'p:existing']],
    ['DELETE', ['p:existing-delete']],
  ] as const)('%s', (operation, expected) => {
    expect(found(policies, { operation })).toEqual(expected);
  });
});

it('exceptions are found by the policy they name', () => {
  const exception = (key: string, ...policyNames: string[]): CompiledException => ({
    key,
    name: key,
    namespace: 'n',
    match: { any: [] },
    exceptions: policyNames.map((policyName) => ({ policyName, ruleNames: [] })),
    source: { file: 'f', line: 1 },
  });
  const snapshot = createSnapshot([], [exception('x', 'p', 'q', 'p'), exception('y', 'q')]);
  expect(snapshot.exceptionsFor('p').map(({ key }) => key)).toEqual(['x']);
  expect(snapshot.exceptionsFor('q').map(({ key }) => key)).toEqual(['x', 'y']);
  expect(snapshot.exceptionsFor('constructor')).toEqual([]);
});
