import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { policy } from '../../src/policy/policy.testing.ts';
import { kymera } from './in-process.testing.ts';

const root = join(import.meta.dirname, '..', '..');
const named = (name: string, text: string) => text.replace('name: p', `name: ${name}`);
const validateRule =
  '  - {name: v, match: {any: [{resources: {kinds: [Pod]}}]}, validate: {message: no, pattern: {a: b}}}\n';

const same = named('same', policy());
const differs = named(
  'differs',
  policy({ mutate: 'foreach: [{list: "[`1`]", as: one, patchStrategicMerge: {data: {k: v}}}]' }),
);
const mixed = `${named('mixed', policy()).trimEnd()}\n${validateRule}`;
const stays = `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: stays}\nspec:\n  rules:\n${validateRule}`;
const broken = named('broken', policy({ mutate: 'patchStrategicMerge: {data: {k: "{{ nothing }}"}}' }));
const cel =
  'apiVersion: policies.kyverno.io/v1alpha1\nkind: DeletingPolicy\nmetadata: {name: cel}\nspec: {}\n';
const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none}\n';
const all = {
  'd/a.yaml': same,
  'd/b.yaml': differs,
  'd/c.yaml': mixed,
  'd/d.yaml': stays,
  'd/e.yaml': broken,
  'd/f.yaml': cel,
  'd/g.yaml': other,
};

describe('kymera migrate check', () => {
  it('has a verdict for every policy of Kyverno, and only for those', async () => {
    const { stdout, exitCode } = await kymera(['migrate', 'check', 'd', '-o', 'json'], { files: all });
    const { policies, summary } = JSON.parse(stdout);
    expect(exitCode).toBe(1);
    expect(
      policies.map((each: { policy: string; verdict: string }) => `${each.policy} ${each.verdict}`),
    ).toEqual(['same same', 'differs differs', 'mixed same', 'stays stays', 'broken refused', 'cel stays']);
    expect(summary).toEqual({ same: 2, differs: 1, refused: 1, stays: 2 });
    expect(JSON.parse(stdout).places).toEqual({
      kymera: { yes: 3, converted: 0, no: 3 },
      'kyverno-1.19': { yes: 4, converted: 0, no: 2 },
      'kyverno-1.20': { yes: 1, converted: 2, no: 3 },
      kubernetes: { yes: 0, converted: 2, no: 4 },
    });
  });

  it('names the entry of the differences, which exists', async () => {
    const { stdout } = await kymera(['migrate', 'check', 'd/b.yaml', '-o', 'json'], { files: all });
    const [{ differences }] = JSON.parse(stdout).policies;
    expect(differences).toEqual([
      {
        rule: 'r',
        line: 11,
        message: 'Kyverno rejects the field `as`',
        see: 'as-in-foreach',
      },
    ]);
    expect(readFileSync(join(root, 'docs/differences-from-kyverno.md'), 'utf8')).toContain(
      '### `as` in foreach',
    );
  });

  it('reports what a namespaced Policy may not reach', async () => {
    const text = (kind: string) =>
      policy({
        kind,
        metadata: kind === 'Policy' ? 'namespace: team' : undefined,
        rule: 'context: [{name: a, globalReference: {name: g}}, {name: b, apiCall: {service: {url: "http://web.other.svc/"}}}, {name: c, apiCall: {service: {url: "http://web.team.svc/"}}}]',
      });
    const seen = async (kind: string) => {
      const files = { 'p.yaml': text(kind) };
      const { stdout } = await kymera(['migrate', 'check', 'p.yaml', '-o', 'json'], { files });
      return JSON.parse(stdout).policies[0].differences.map(({ see }: { see: string }) => see);
    };
    const page = 'a-namespaced-policy';
    expect(await seen('Policy')).toEqual([
      `${page}-reads-only-annotated-global-context-entries`,
      `${page}-calls-only-its-own-services`,
    ]);
    expect(await seen('ClusterPolicy')).toEqual([]);
  });

  it.each(['kyverno.io/v1alpha1', 'policy.nirmata.io/v1alpha1'])(
    'Kyverno no longer reads %s, so such a policy does not run as in Kyverno',
    async (apiVersion) => {
      const old = `apiVersion: ${apiVersion}\nkind: Policy\nmetadata: {name: old}\nspec: {rules: [{name: r, resource: {kinds: [ConfigMap]}, mutate: {overlay: {data: {k: v}}}}]}\n`;
      const run = (...more: string[]) =>
        kymera(['migrate', 'check', 'p.yaml', ...more], { files: { 'p.yaml': old } });
      const { exitCode, stdout } = await run('-o', 'json');
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout).policies).toMatchObject([
        { verdict: 'differs', differences: [{ see: 'old-policies' }] },
      ]);
      expect((await run()).stdout).toContain(
        `    only Kymera runs it: Kyverno no longer reads ${apiVersion}, and kymera convert writes kyverno.io/v1 (`,
      );
    },
  );

  it('says where policies in CEL can run', async () => {
    const rule = '{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}';
    const spec = `{matchConstraints: {resourceRules: [${rule}]}, reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/data", value: {"a": "b"}}]'}}]}`;
    const files = {
      'd/mp.yaml': `apiVersion: policies.kyverno.io/v1\nkind: MutatingPolicy\nmetadata: {name: mp}\nspec: ${spec}\n`,
      'd/map.yaml': `apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {name: map}\nspec: ${spec}\n`,
    };
    const { stdout, exitCode } = await kymera(['migrate', 'check', 'd', '-o', 'json'], { files });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).policies).toMatchObject([
      {
        policy: 'map',
        places: {
          kymera: { runs: 'converted' },
          'kyverno-1.20': { runs: 'converted' },
          kubernetes: { runs: 'yes' },
        },
      },
      {
        policy: 'mp',
        places: {
          kymera: { runs: 'yes' },
          'kyverno-1.20': { runs: 'yes' },
          kubernetes: { runs: 'converted' },
        },
      },
    ]);
  });

  it('reads files or a cluster', async () => {
    const neither = await kymera(['migrate', 'check']);
    expect(neither).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('use --cluster') });
    const both = await kymera(['migrate', 'check', 'd', '--cluster'], { files: all });
    expect(both.exitCode).toBe(2);
    const absent = await kymera(['migrate', 'check', '--cluster', '--kubeconfig', 'none'], { files: all });
    expect(absent).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('KYM_CLUSTER') });
  });

  it('says which rules only Kyverno runs', async () => {
    const { stdout } = await kymera(['migrate', 'check', 'd/c.yaml', '-o', 'json'], { files: all });
    expect(JSON.parse(stdout).policies).toMatchObject([
      { runs: ['r'], stays: [{ rule: 'v', type: 'validate' }] },
    ]);
  });

  it('prints a table with what is to be known below each row', async () => {
    const { stdout } = await kymera(['migrate', 'check', 'd'], { files: all });
    expect(stdout.split('\n')).toEqual([
      'POLICY              VERDICT             RULES HERE  FOR KYVERNO  1.19  1.20       MAP        FILE',
      'same                runs unchanged      1           -            yes   converted  converted  d/a.yaml:2',
      'differs             differs             1           -            no    converted  converted  d/b.yaml:2',
      '    rule r: Kyverno rejects the field `as` (kymera errors as-in-foreach)',
      '    not on Kyverno 1.19: Kyverno rejects the field `as`',
      'mixed               runs unchanged      1           1 validate   yes   no         no         d/c.yaml:2',
      '    v: leave to Kyverno, in a separate policy',
      '    not on Kyverno 1.20 and later and Kubernetes (MAP): rule v: spec.rules[1].validate: only mutate rules become a MutatingPolicy',
      'stays               stays with Kyverno  0           1 validate   yes   no         no         d/d.yaml:1',
      '    not on Kyverno 1.20 and later and Kubernetes (MAP): rule v: spec.rules[0].validate: only mutate rules become a MutatingPolicy',
      'broken              does not load       1           -            no    no         no         d/e.yaml:2',
      '    line 11: the variable nothing is not defined [KYM_VARIABLE_UNKNOWN]',
      '    not on Kyverno 1.19: the variable nothing is not defined',
      '    not on Kyverno 1.20 and later and Kubernetes (MAP): rule r: spec.rules[0].mutate.patchStrategicMerge.data.k: the variable nothing is not defined in the rule',
      'DeletingPolicy cel  stays with Kyverno  0           all          yes   yes        no         d/f.yaml:1',
      '    not on Kubernetes (MAP): a DeletingPolicy does not mutate',
      '',
      '2 run unchanged, 1 differ, 1 do not load, 2 stay with Kyverno',
      '',
      'RUNS ON                 AS IT IS  CONVERTED  NOT',
      'Kymera                  3         0          3',
      'Kyverno 1.19            4         0          2',
      'Kyverno 1.20 and later  1         2          3',
      'Kubernetes (MAP)        0         2          4',
      '',
    ]);
  });

  it.each([
    ['all that runs here runs unchanged', ['d/a.yaml', 'd/c.yaml', 'd/d.yaml'], 0],
    ['one differs', ['d/a.yaml', 'd/b.yaml'], 1],
    ['one does not load', ['d/e.yaml'], 1],
    ['there is no policy', ['d/g.yaml'], 2],
    ['there is no such file', ['none'], 2],
  ])('%s: exit code', async (_, names, exitCode) => {
    expect(await kymera(['migrate', 'check', ...names], { files: all })).toMatchObject({ exitCode });
  });
});

describe('kymera convert --to kymera', () => {
  const convert = (text: string) =>
    kymera(['convert', 'p.yaml', '--to', 'kymera', '-o', 'yaml'], { files: { 'p.yaml': text } });

  it('changes the apiVersion, and nothing else of a policy in today’s form', async () => {
    const text = `# kept\n${same.trim()}\n`;
    const { stdout, exitCode } = await convert(text);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(text.replace('kyverno.io/v1', 'kymera.io/v1'));
  });

  it('gives policies that load, and run as before', async () => {
    const { stdout } = await convert(same);
    const files = { 'p.yaml': stdout, 'r.yaml': other };
    const applied = await kymera(['apply', 'p.yaml', '-r', 'r.yaml', '-o', 'yaml'], { files });
    expect(applied.stdout).toContain('a: b');
  });

  it('brings old policies into today’s form on the way', async () => {
    const old =
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata:\n  name: p\nspec:\n  rules:\n  - name: r\n    match:\n      resources:\n        kinds: [Pod]\n    mutate:\n      patchStrategicMerge: {metadata: {labels: {a: b}}}\n';
    const { stdout } = await convert(old);
    expect(stdout).toContain('apiVersion: kymera.io/v1\n');
    expect(stdout).toContain('any:');
  });

  it('leaves a policy alone whose rules nobody would enforce', async () => {
    const { stdout, stderr, exitCode } = await convert(mixed);
    expect(exitCode).toBe(1);
    expect(stdout).toBe(mixed);
    expect(stderr).toContain('rule v is a validate rule: it would not be enforced under kymera.io/v1');
  });

  it('leaves exceptions and other documents as they are', async () => {
    const exception =
      'apiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: e, namespace: n}\nspec:\n  match: {any: [{resources: {kinds: [Pod]}}]}\n  exceptions: [{policyName: p, ruleNames: [r]}]\n';
    const { stdout } = await convert(`${exception}---\n${other}`);
    expect(stdout).toBe(`${exception}---\n${other}`);
  });

  it('converts each item of a List, and JSON', async () => {
    const item = JSON.parse(
      '{"apiVersion":"kyverno.io/v1","kind":"ClusterPolicy","metadata":{"name":"p"},"spec":{"rules":[{"name":"r","match":{"any":[{"resources":{"kinds":["Pod"]}}]},"mutate":{"patchStrategicMerge":{"metadata":{"labels":{"a":"b"}}}}}]}}',
    );
    const { stdout } = await convert(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item, item] }));
    expect(JSON.parse(stdout).items.map((each: { apiVersion: string }) => each.apiVersion)).toEqual([
      'kymera.io/v1',
      'kymera.io/v1',
    ]);
  });
});
