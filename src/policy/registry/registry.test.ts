import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { compileFilter } from '../compile/match.ts';
import type { CompiledException, CompiledPolicy, CompiledRule } from '../compiled.ts';
import { indexedSubject } from '../policy.testing.ts';
import { type CandidateKey, createSnapshot } from './registry.ts';

const silent = { error: () => {}, warn: () => {} };

function rule(name: string, match: JsonObject, targets?: [], exclude?: JsonObject): CompiledRule {
  return {
    name,
    path: [],
    match: compileFilter(match, ['match'], silent) ?? {},
    exclude: exclude === undefined ? undefined : compileFilter(exclude, ['exclude'], silent),
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
  subject: indexedSubject({ namespace: 'a' }),
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

  it('lists a rule once, however many of its blocks match', () => {
    const twice = { any: [{ resources: { kinds: ['Pod', 'v1/Pod'] } }, { resources: { kinds: ['Pod'] } }] };
    expect(found([policy('p', [rule('r', twice)])])).toEqual(['p:r']);
  });

  it('every block of all must fit', () => {
    const match = { all: [{ resources: { kinds: ['Pod'] } }, { resources: { kinds: ['Service'] } }] };
    expect(found([policy('p', [rule('r', match)])])).toEqual([]);
  });

  it('answers the same key with the same list', () => {
    const snapshot = createSnapshot(policies);
    expect(snapshot.candidates({ ...podCreate })).toBe(
      snapshot.candidates({ ...podCreate, subject: indexedSubject({ namespace: 'b' }) }),
    );
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

describe('the index of literal clauses', () => {
  const subject = indexedSubject({
    labels: { app: 'web', tier: 'front' },
    annotations: { team: 'a' },
    namespaceLabels: () => ({ team: 'a' }),
    user: { info: { username: 'ann', groups: ['devs'] }, roles: ['shop:editor'], clusterRoles: ['view'] },
  });
  const restrictedTo = (clauses: JsonObject, user: JsonObject = {}): JsonObject => ({
    any: [{ resources: { kinds: ['Pod'], ...clauses }, ...user }],
  });
  const subjects = (kind: string, name: string): JsonObject => ({ subjects: [{ kind, name }] });
  const label = (value: string): JsonObject => ({ selector: { matchLabels: { app: value } } });
  const exists = (key: string): JsonObject => ({
    selector: { matchExpressions: [{ key, operator: 'Exists' }] },
  });
  const oneOf = (...values: string[]): JsonObject => ({
    selector: { matchExpressions: [{ key: 'app', operator: 'In', values }] },
  });

  it.each<[string, (index: number) => JsonObject]>([
    ['names', (index) => restrictedTo({ names: [`n${index}`, `m${index}`] })],
    ['namespaces', (index) => restrictedTo({ namespaces: [`n${index}`] })],
    ['matchLabels', (index) => restrictedTo(label(`n${index}`))],
    ['matchExpressions', (index) => restrictedTo(oneOf(`n${index}`, `m${index}`))],
    [
      'names, where all share a namespace',
      (index) => restrictedTo({ namespaces: ['shop'], names: [`n${index}`] }),
    ],
    ['labels, where all share a name', (index) => restrictedTo({ names: ['web'], ...label(`n${index}`) })],
    [
      'one block of all',
      (index) => ({ all: [{ resources: { kinds: ['Pod'] } }, { resources: { namespaces: [`n${index}`] } }] }),
    ],
    [
      'each block of any',
      (index) => ({
        any: [
          { resources: { kinds: ['Pod'], names: [`n${index}`] } },
          { resources: { kinds: ['Pod'], ...label(`n${index}`) } },
        ],
      }),
    ],
    ['keys of labels', (index) => restrictedTo(exists(`k${index}`))],
    ['annotations', (index) => restrictedTo({ annotations: { team: `n${index}` } })],
    [
      'labels of namespaces',
      (index) => restrictedTo({ namespaceSelector: { matchLabels: { team: `n${index}` } } }),
    ],
    ['users', (index) => restrictedTo({}, subjects('User', `n${index}`))],
    ['groups', (index) => restrictedTo({}, subjects('Group', `n${index}`))],
    ['roles', (index) => restrictedTo({}, { roles: [`shop:n${index}`] })],
    ['cluster roles', (index) => restrictedTo({}, { clusterRoles: [`n${index}`] })],
    [
      'names, beside a block for another kind',
      (index) => ({
        any: [{ resources: { kinds: ['Pod'], names: [`n${index}`] } }, { resources: { kinds: ['Service'] } }],
      }),
    ],
    [
      'the kind of the second of all blocks',
      (index) => ({
        all: [{ resources: { names: ['w*', `n${index}`] } }, { resources: { kinds: ['Service'] } }],
      }),
    ],
    [
      'namespaces, for all kinds',
      (index) => ({ any: [{ resources: { kinds: ['*'], namespaces: [`n${index}`] } }] }),
    ],
  ])('finds ten policies among 10,000 others that differ in %s', (_clause, matchOf) => {
    const others = Array.from({ length: 10_000 }, (_, index) =>
      policy(`o${index}`, [rule('r', matchOf(index))]),
    );
    const ten = Array.from({ length: 10 }, (_, index) => policy(`p${index}`, [rule('r', kinds('Pod'))]));
    const snapshot = createSnapshot([...others, ...ten]);
    const candidates = snapshot.candidates({ ...podCreate, subject });
    expect(candidates.map(({ policy: { name } }) => name)).toEqual(ten.map(({ name }) => name));
    expect(snapshot.candidates({ ...podCreate, subject: { ...subject, name: 'other' } })).toBe(candidates);
  });

  it.each<[string, JsonObject, boolean]>([
    ['its name', restrictedTo({ names: ['web'] }), true],
    ['one of several names', restrictedTo({ names: ['other', 'web'] }), true],
    ['another name', restrictedTo({ names: ['other'] }), false],
    ['a wildcard among the names', restrictedTo({ names: ['other', 'w*'] }), true],
    ['its namespace', restrictedTo({ namespaces: ['shop'] }), true],
    ['another namespace', restrictedTo({ namespaces: ['bank'] }), false],
    ['a label', restrictedTo(label('web')), true],
    ['another label', restrictedTo(label('api')), false],
    ['a label with a wildcard', restrictedTo(label('w*')), true],
    ['one of several labels', restrictedTo(oneOf('api', 'web')), true],
    ['other labels', restrictedTo(oneOf('api', 'db')), false],
    ['a key of a label', restrictedTo(exists('app')), true],
    ['another key', restrictedTo(exists('web')), false],
    ['an annotation', restrictedTo({ annotations: { team: 'a' } }), true],
    ['an annotation with a wildcard', restrictedTo({ annotations: { 't*': 'a' } }), true],
    ['another annotation', restrictedTo({ annotations: { team: 'b' } }), false],
    ['a label of its namespace', restrictedTo({ namespaceSelector: { matchLabels: { team: 'a' } } }), true],
    [
      'another label of a namespace',
      restrictedTo({ namespaceSelector: { matchLabels: { team: 'b' } } }),
      false,
    ],
    ['the user', restrictedTo({}, subjects('User', 'ann')), true],
    ['a group of the user', restrictedTo({}, subjects('Group', 'devs')), true],
    ['a group named as the user', restrictedTo({}, subjects('Group', 'ann')), false],
    ['a role', restrictedTo({}, { roles: ['shop:editor'] }), true],
    ['a cluster role', restrictedTo({}, { clusterRoles: ['edit', 'view'] }), true],
    ['another cluster role', restrictedTo({}, { clusterRoles: ['shop:editor'] }), false],
    [
      'a label that must not exist',
      restrictedTo({ selector: { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] } }),
      true,
    ],
    [
      'one matching block of any',
      {
        any: [
          { resources: { kinds: ['Pod'], names: ['other'] } },
          { resources: { kinds: ['Pod'], namespaces: ['shop'] } },
        ],
      },
      true,
    ],
    [
      'one block without a literal clause',
      { any: [{ resources: { kinds: ['Pod'], names: ['other'] } }, { resources: { kinds: ['Pod'] } }] },
      true,
    ],
    [
      'a mismatch in one block of all',
      { all: [{ resources: { kinds: ['Pod'] } }, { resources: { names: ['other'] } }] },
      false,
    ],
  ])('a rule for %s', (_what, match, isFound) => {
    expect(found([policy('p', [rule('r', match)])], { subject })).toEqual(isFound ? ['p:r'] : []);
  });

  it('a policy that is found brings all its rules for the kind: an earlier rule may change the labels', () => {
    const rules = [
      rule('first', kinds('Pod')),
      rule('second', restrictedTo(label('new'))),
      rule('third', kinds('Service')),
    ];
    expect(found([policy('p', rules)], { subject })).toEqual(['p:first', 'p:second']);
  });

  it('without a user and namespace, clauses about them may hold', () => {
    const match = restrictedTo({ namespaceSelector: { matchLabels: { team: 'b' } } });
    const policies = [
      policy('p', [rule('r', match)]),
      policy('q', [rule('r', restrictedTo({}, subjects('User', 'bob')))]),
    ];
    expect(found(policies, { subject })).toEqual([]);
    const unknown = { ...subject, user: undefined, namespaceLabels: () => undefined };
    expect(found(policies, { subject: unknown })).toEqual(['p:r', 'q:r']);
  });

  describe('an exclude block with one literal clause', () => {
    const excluding = (block: JsonObject, ...more: readonly JsonObject[]) =>
      rule('r', kinds('Pod'), undefined, { any: [block, ...more] });
    const isFound = (each: CompiledRule, key: Partial<CandidateKey> = {}) =>
      found([policy('p', [each])], { subject, ...key }).length > 0;

    it.each<[string, JsonObject]>([
      ['names', { resources: { names: ['other', 'web'] } }],
      ['namespaces', { resources: { namespaces: ['shop'] } }],
      ['matchLabels', { resources: label('web') }],
      ['matchExpressions', { resources: oneOf('x', 'web') }],
      ['a key of a label', { resources: exists('tier') }],
      ['annotations', { resources: { annotations: { team: 'a' } } }],
      ['kinds beside the clause', { resources: { kinds: ['Pod'], namespaces: ['shop'] } }],
      ['operations beside the clause', { resources: { operations: ['CREATE'], namespaces: ['shop'] } }],
      ['kinds alone', { resources: { kinds: ['Pod'] } }],
      ['users', subjects('User', 'ann')],
      ['groups', subjects('Group', 'devs')],
      ['roles', { roles: ['shop:editor'] }],
      ['cluster roles', { clusterRoles: ['view'] }],
    ])('by %s leaves out the policy', (_name, block) => {
      expect(isFound(excluding(block))).toBe(false);
      expect(isFound(excluding({ resources: { names: ['other'] } }, block))).toBe(false);
      expect(isFound(rule('r', kinds('Pod'), undefined, { all: [block] }))).toBe(false);
    });

    it.each<[string, JsonObject]>([
      ['another value', { resources: { namespaces: ['n'] } }],
      ['another kind', { resources: { kinds: ['Service'], namespaces: ['shop'] } }],
      ['another operation', { resources: { operations: ['DELETE'], namespaces: ['shop'] } }],
      ['two clauses', { resources: { names: ['web'], namespaces: ['shop'] } }],
      ['a literal and a wildcard', { resources: { annotations: { team: 'a', 'x*': 'y' } } }],
      [
        'two labels',
        {
          resources: {
            selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] },
          },
        },
      ],
      ['labels of namespaces', { resources: { namespaceSelector: { matchLabels: { team: 'a' } } } }],
    ])('but for %s does not', (_name, block) => {
      expect(isFound(excluding(block))).toBe(true);
    });

    it('leaves out the policy only if each of its rules is excluded', () => {
      const inShop = excluding({ resources: { namespaces: ['shop'] } });
      const byName = excluding({ resources: { names: ['web'] } });
      expect(found([policy('p', [inShop, byName])], { subject })).toEqual([]);
      expect(found([policy('p', [inShop, rule('s', kinds('Pod'))])], { subject })).toEqual(['p:r', 'p:s']);
      // A rule for another kind does not count.
      expect(found([policy('p', [inShop, rule('s', kinds('Service'))])], { subject })).toEqual([]);
    });

    it('is not decided for a subject whose user or labels are not known as strings', () => {
      const { user: _, ...unknown } = subject;
      expect(isFound(excluding(subjects('User', 'ann')), { subject: { ...unknown } })).toBe(true);
      const numbers = { ...subject, labels: { app: 'web', tier: 1 } };
      expect(isFound(excluding({ resources: label('web') }), { subject: numbers })).toBe(true);
    });

    it('is not confused by keys that contain a space', () => {
      const keys = { 'app web': 'x', 'team a': 'x' };
      const confusing = { subject: { ...subject, labels: keys, annotations: keys } };
      expect(isFound(excluding({ resources: label('web') }), confusing)).toBe(true);
      expect(isFound(excluding({ resources: { annotations: { team: 'a' } } }), confusing)).toBe(true);
    });

    it('is not confused by values that contain separators', () => {
      const snapshot = createSnapshot([
        policy('p', [excluding(subjects('User', 'a'))]),
        policy('q', [excluding(subjects('Group', 'g'))]),
        policy('r', [excluding(subjects('User', 'a,user group g'))]),
      ]);
      const names = (username: string, groups: readonly string[]) => {
        const user = { info: { username, groups }, roles: [], clusterRoles: [] };
        const candidates = snapshot.candidates({ ...podCreate, subject: { ...subject, user } });
        return candidates.map((candidate) => candidate.policy.name);
      };
      expect(names('a', ['g'])).toEqual(['r']);
      expect(names('a,user group g', [])).toEqual(['p', 'q']);
    });

    it('depends on the subject, whose labels may change', () => {
      const snapshot = createSnapshot([
        policy('p', [excluding({ resources: { namespaces: ['shop'] } })]),
        policy('q', [excluding({ resources: label('web') })]),
      ]);
      const names = (each: typeof subject) =>
        snapshot.candidates({ ...podCreate, subject: each }).map((candidate) => candidate.policy.name);
      for (const _ of [1, 2]) {
        expect(names(subject)).toEqual([]);
        expect(names({ ...subject, labels: {} })).toEqual(['q']);
        expect(names({ ...subject, namespace: 'other' })).toEqual(['p']);
      }
      expect(snapshot.selectsBy('labels')).toBe(true);
      expect(snapshot.selectsBy('annotations')).toBe(false);
    });
  });

  it('namespaced policies of other namespaces are not looked at', () => {
    const pods = rule('r', kinds('Pod'));
    const untouchable = (namespace: string): CompiledPolicy => {
      let reads = 0;
      return Object.defineProperty(policy('p', [], namespace), 'rules', {
        get() {
          reads += 1;
          // The index reads the rules once.
          if (reads > 1) throw new Error('looked at');
          return [pods];
        },
      });
    };
    const others = Array.from({ length: 1_000 }, (_, index) => untouchable(`n${index}`));
    expect(found([...others, policy('p', [pods], 'shop')], { subject })).toEqual(['shop/p:r']);
    expect(() => found(others, { subject: indexedSubject({ namespace: 'n7' }) })).toThrow('looked at');
  });

  it('keys of Object.prototype are data', () => {
    expect(found([policy('p', [rule('r', restrictedTo({ names: ['constructor'] }))])], { subject })).toEqual(
      [],
    );
  });

  it('lists share their candidates: most contain all policies without literal clauses', () => {
    const everywhere = policy('everywhere', [rule('r', kinds('Pod'))]);
    const own = ['a', 'b'].map((namespace) =>
      policy(`own-${namespace}`, [
        rule('r', { any: [{ resources: { kinds: ['Pod'], namespaces: [namespace] } }] }),
      ]),
    );
    const snapshot = createSnapshot([everywhere, ...own]);
    const [first, second] = ['a', 'b'].map((namespace) =>
      snapshot.candidates({ ...podCreate, subject: indexedSubject({ namespace }) }),
    );
    expect(first).not.toBe(second);
    expect(first?.[0]).toBe(second?.[0]);
  });

  it('long lists of found policies are not remembered', () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      policy(`p${index}`, [rule('r', restrictedTo({ names: ['web'] }))]),
    );
    const snapshot = createSnapshot(many);
    const key = { ...podCreate, subject };
    expect(snapshot.candidates(key)).toHaveLength(101);
    expect(snapshot.candidates(key)).not.toBe(snapshot.candidates(key));
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
    expect(found(policies, { subject: indexedSubject({ namespace }) })).toEqual(expected);
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

it('exceptions are found by literal clauses too', () => {
  const exceptions = Array.from(
    { length: 1_000 },
    (_, index): CompiledException => ({
      key: `e${index}`,
      name: `e${index}`,
      namespace: 'n',
      match:
        compileFilter(
          { any: [{ resources: { kinds: ['Pod'], ...(index === 5 ? {} : { names: [`n${index}`] }) } }] },
          ['match'],
          silent,
        ) ?? {},
      exceptions: [{ policyName: 'p', ruleNames: [] }],
      source: { file: 'f', line: 1 },
    }),
  );
  const snapshot = createSnapshot([], exceptions);
  const keys = (name: string) =>
    snapshot.exceptionsFor('p', { ...podCreate, subject: indexedSubject({ name }) }).map(({ key }) => key);
  expect(keys('n7')).toEqual(['e5', 'e7']);
  expect(keys('n3')).toEqual(['e3', 'e5']);
  expect(snapshot.exceptionsFor('p')).toHaveLength(1_000);
});

describe('rules that match every object of the kind and operation', () => {
  const all = (...blocks: JsonObject[]): JsonObject => ({ all: blocks });
  const any = (...blocks: JsonObject[]): JsonObject => ({ any: blocks });
  const pods: JsonObject = { resources: { kinds: ['Pod'] } };
  const selector: JsonObject = { resources: { selector: { matchLabels: { a: 'b' } } } };

  it.each<[string, JsonObject, boolean]>([
    ['a kind', any(pods), true],
    ['a kind and the operation', any({ resources: { kinds: ['Pod'], operations: ['CREATE'] } }), true],
    ['one of several kinds', any({ resources: { kinds: ['Service', 'v1/Pod'] } }), true],
    ['one of several blocks', any(selector, pods), true],
    [
      'another kind beside a name',
      any({ resources: { kinds: ['Service'] } }, { resources: { names: ['x'] } }),
      false,
    ],
    ['all blocks by kind', all(pods, { resources: { kinds: ['*'] } }), true],
    ['all blocks, one by labels', all(pods, selector), false],
    ['a name', any({ resources: { kinds: ['Pod'], names: ['*'] } }), false],
    ['a namespace', any({ resources: { kinds: ['Pod'], namespaces: ['a'] } }), false],
    ['annotations', any({ resources: { kinds: ['Pod'], annotations: { a: 'b' } } }), false],
    [
      'a namespace selector',
      any({ resources: { kinds: ['Pod'], namespaceSelector: { matchLabels: { a: 'b' } } } }),
      false,
    ],
    ['a user', any({ ...pods, subjects: [{ kind: 'User', name: 'x' }] }), false],
    ['a role', any({ ...pods, clusterRoles: ['x'] }), false],
  ])('%s', (_, match, isMatched) => {
    const each = rule('r', match);
    const labels = { a: 'b' };
    const subject = indexedSubject({
      name: 'x',
      namespace: 'a',
      labels,
      annotations: labels,
      namespaceLabels: () => labels,
    });
    const [candidate] = createSnapshot([policy('p', [each])]).candidates({ ...podCreate, subject });
    expect(candidate?.matched?.has(each)).toBe(isMatched);
  });
});
