import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../src/json/value.ts';
import { titleOf } from '../../src/offline/object-identity.ts';
import { type CorpusCase, type CorpusResult, findCorpus, readCorpus } from '../conformance/kyverno-corpus.ts';
import { describeUnless, noCorpus } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';

const corpus = findCorpus(new URL('../..', import.meta.url).pathname);
const cases =
  corpus === undefined ? [] : readCorpus(corpus).filter(({ folder }) => kindOf(folder) === 'cli-test');

/** Each case of Kyverno's own command line tests, made into a kyverno-test folder again. */
describeUnless(corpus === undefined ? noCorpus : undefined)(
  'kymera test --lenient gives what the real program gave',
  () => {
    test('there are cases', () => expect(cases.length).toBeGreaterThan(30));

    test.each(cases.map((one) => [one.id, one] as const))('%s', async (_, corpusCase) => {
      const folder = rebuild(corpusCase);
      const { stdout, stderr } = await kymera(['test', '.', '--lenient', '-o', 'json'], { folder });
      const report = JSON.parse(stdout) as Report;
      expect(report.suites[0]?.errors, stderr).toEqual([]);
      const rows = report.suites.flatMap((suite) => suite.tests.flatMap((one) => one.results));
      const told = corpusCase.results.map((result) => `${nameOf(result)}: ${outcomeIn(rows, result)}`);
      expect(told).toEqual(corpusCase.results.map((result) => `${nameOf(result)}: ${wanted(result)}`));
    });
  },
);

interface Row {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
  readonly expected: string;
  readonly outcome: string;
  readonly reason: string;
  readonly difference?: string;
}

interface Report {
  readonly suites: readonly {
    readonly errors: readonly string[];
    readonly tests: readonly { readonly results: readonly Row[] }[];
  }[];
}

function kindOf(folder: string): unknown {
  return (parse(readFileSync(join(folder, 'case.yaml'), 'utf8')) as { kind?: unknown }).kind;
}

/** The folder of the case with a test document; results keep their order. */
function rebuild(corpusCase: CorpusCase): string {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-suite-'));
  symlinkSync(corpusCase.folder, join(folder, 'case'));
  const inCase = (files: readonly string[] | undefined) => (files ?? []).map((file) => `case/${file}`);
  const more = corpusCase as CorpusCase & Readonly<Record<string, Json | undefined>>;
  const document: Record<string, Json | undefined> = {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'Test',
    metadata: { name: corpusCase.id },
    policies: inCase(corpusCase.policies),
    resources: inCase(corpusCase.resources),
    exceptions: inCase(corpusCase.exceptions),
    targetResources: inCase(more['targetResources'] as string[] | undefined),
    clusterResources: inCase(more['clusterResources'] as string[] | undefined),
    apiCallResponses: more['apiCallResponses'],
    globalContextEntries: more['globalContextEntries'],
    values: corpusCase.values,
    ...(corpusCase.userinfo === undefined ? {} : { userinfo: 'user.yaml' }),
    results: corpusCase.results.map(resultDocument),
  };
  writeFileSync(join(folder, 'kyverno-test.yaml'), JSON.stringify(document));
  const user: JsonObject = {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'UserInfo',
    ...corpusCase.userinfo,
  };
  writeFileSync(join(folder, 'user.yaml'), JSON.stringify(user));
  return folder;
}

function resultDocument({
  policy,
  rule,
  resource,
  result,
  patchedResource,
  operation,
}: CorpusResult): JsonObject {
  const { name, namespace, kind } = resource;
  return {
    policy: String(policy),
    rule: rule ?? '',
    kind,
    resources: [namespace === '' ? name : `${namespace}/${name}`],
    result,
    ...(patchedResource === null ? {} : { patchedResources: `case/${patchedResource}` }),
    ...(operation === undefined ? {} : { operation }),
  };
}

function nameOf({ policy, rule, resource, result }: CorpusResult): string {
  return `${String(policy)} ${rule ?? ''} ${resource.kind} ${resource.name} ${result}`;
}

/** Results for mutate-existing rules need a cluster, those of other rules are not judged here; what nothing proves is a warning. */
function wanted(result: CorpusResult & { readonly ruleType?: string }): string {
  const { oracle, target, ruleType } = result;
  if (target !== undefined || (ruleType ?? 'mutate') !== 'mutate') return 'skipped';
  return oracle?.outcome?.startsWith('verified') === true ? 'passed' : 'unverified';
}

function outcomeIn(rows: readonly Row[], { policy, rule, resource, result }: CorpusResult): string {
  const { kind, name, namespace } = resource;
  const title = titleOf({ kind, metadata: { name, namespace } });
  const found = rows.filter(
    (row) =>
      row.policy === String(policy) &&
      row.rule === (rule ?? '') &&
      row.expected === result &&
      [title, resource.name].includes(row.resource),
  );
  const outcomes = new Set(found.map((row) => row.outcome));
  if (outcomes.size === 1) return [...outcomes].join();
  return found.map((row) => `${row.outcome} ${row.reason} ${row.difference ?? ''}`).join('; ') || 'no row';
}
