import { join } from 'node:path';
import { celFailures, readCelCases } from './cel-cases.ts';
import { celCorpusFailures, knownCelDifferences, readCelCorpus, reasonToLeaveOut } from './cel-corpus.ts';
import { corpusDifferences, differencesSection, writeSection } from './expected-differences.ts';
import { kustomizeFailures, readKustomizeCases } from './kustomize-cases.ts';
import { findCorpus, offlineResults, readCorpus } from './kyverno-corpus.ts';
import { corpusFailures } from './kyverno-results.ts';
import { failuresOf, readCaseFiles } from './own-cases.ts';

const root = process.cwd();
const verdicts = [
  await runOwnCases(),
  await runCelCases(),
  await runKustomizeCases(),
  await runCorpus(),
  await runCelCorpus(),
];
if (verdicts.every(Boolean)) {
  writeSection(root, differencesSection(readCaseFiles(join(root, 'test', 'conformance', 'cases'))));
}
process.exit(verdicts.every(Boolean) ? 0 : 1);

async function runOwnCases(): Promise<boolean> {
  console.log('own cases');
  let ok = true;
  for (const { file, cases } of readCaseFiles(join(root, 'test', 'conformance', 'cases'))) {
    const lines: string[] = [];
    for (const testCase of cases) {
      const failures = await settled(failuresOf(testCase));
      if (failures.length > 0) lines.push(`    ${testCase.id}: ${failures.join('\n      ')}`);
    }
    report(file, cases.length, lines);
    ok &&= lines.length === 0;
  }
  return ok;
}

async function runCelCases(): Promise<boolean> {
  console.log('\nCEL policies');
  let ok = true;
  for (const { topic, cases } of readCelCases(join(root, 'test', 'conformance', 'cel'))) {
    const lines: string[] = [];
    for (const testCase of cases) {
      const failures = await settled(celFailures(testCase));
      if (failures.length > 0) lines.push(`    ${testCase.id}: ${failures.join('\n      ')}`);
    }
    const differing = cases.filter(({ differs }) => differs !== undefined).length;
    report(differing === 0 ? topic : `${topic} (${differing} differ on purpose)`, cases.length, lines);
    ok &&= lines.length === 0;
  }
  return ok;
}

async function runCelCorpus(): Promise<boolean> {
  const corpus = findCorpus(root);
  if (corpus === undefined) return true;
  const lines: string[] = [];
  const cases = readCelCorpus(corpus);
  const checked = cases.filter((one) => reasonToLeaveOut(one) === undefined);
  for (const testCase of checked) {
    const failures = await settled(celCorpusFailures(testCase));
    if (failures.length > 0 !== knownCelDifferences.has(testCase.id))
      lines.push(`    ${testCase.id}: ${failures.join('\n      ')}`);
  }
  console.log(`\nKyverno's CEL policies: ${cases.length - checked.length} cannot be checked offline`);
  report(`${knownCelDifferences.size} differ on purpose`, checked.length, lines);
  return lines.length === 0;
}

async function runKustomizeCases(): Promise<boolean> {
  console.log('\nkustomize cases');
  const groups = new Map<string, { count: number; differing: number; lines: string[] }>();
  for (const testCase of readKustomizeCases(join(root, 'test', 'conformance', 'kustomize'))) {
    const name = testCase.id.split('-')[0] ?? '';
    const group = groups.get(name) ?? { count: 0, differing: 0, lines: [] };
    groups.set(name, group);
    group.count += 1;
    if (testCase.differs !== undefined) group.differing += 1;
    const failures = await settled(kustomizeFailures(testCase));
    if (failures.length > 0) group.lines.push(`    ${testCase.id}: ${failures.join('\n      ')}`);
  }
  for (const [name, { count, differing, lines }] of groups) {
    report(differing === 0 ? name : `${name} (${differing} differ on purpose)`, count, lines);
  }
  return [...groups.values()].every(({ lines }) => lines.length === 0);
}

async function runCorpus(): Promise<boolean> {
  const corpus = findCorpus(root);
  if (corpus === undefined) {
    console.log('\nKyverno cases: the corpus is not here (set KYMERA_CONFORMANCE to its folder)');
    return true;
  }
  const expected = corpusDifferences;
  const counts = { cases: 0, results: 0, passed: 0, needsCluster: 0, nothingOffline: 0 };
  const unexpected: string[] = [];
  const known: string[] = [];
  for (const corpusCase of readCorpus(corpus)) {
    const results = offlineResults(corpusCase);
    if (corpusCase.needs !== undefined) counts.needsCluster += 1;
    else if (results.length === 0) counts.nothingOffline += 1;
    else {
      counts.cases += 1;
      const lines: string[] = [];
      for (const result of results) {
        const failures = await settled(corpusFailures(corpusCase, result));
        counts.results += 1;
        if (failures.length === 0) counts.passed += 1;
        else lines.push(`${result.resource.kind}/${result.resource.name}: ${failures.join('\n      ')}`);
      }
      if (lines.length > 0)
        (expected.has(corpusCase.id) ? known : unexpected).push(
          `    ${corpusCase.id}: ${lines.join('\n      ')}`,
        );
      else if (expected.has(corpusCase.id))
        unexpected.push(`    ${corpusCase.id}: is listed as different, but is not`);
    }
  }
  console.log(
    `\nKyverno cases: ${counts.cases} run with ${counts.results} results, ${counts.passed} equal; ` +
      `${counts.needsCluster} need a cluster, ${counts.nothingOffline} have no result that can be checked offline`,
  );
  if (known.length > 0) console.log(`  differ on purpose (${known.length}):\n${known.join('\n')}`);
  if (unexpected.length > 0)
    console.log(`  NOT as expected (${unexpected.length}):\n${unexpected.join('\n')}`);
  return unexpected.length === 0;
}

function report(name: string, count: number, failures: readonly string[]): void {
  console.log(`  ${name.padEnd(40)} ${String(count).padStart(4)} run, ${count - failures.length} passed`);
  if (failures.length > 0) console.log(failures.join('\n'));
}

/** A crash of one case is a failure of that case. */
async function settled(failures: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await failures;
  } catch (error) {
    return [`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}
