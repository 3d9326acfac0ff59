import { describe, expect, it } from 'vitest';
import { type ConversionStatus, checkConversion } from '../../src/convert/checked-conversion.ts';
import { defaultUser, type Sample } from '../../src/convert/proof/sample.ts';
import { compileSource, convertSource } from '../../src/convert/source-policy.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { describeUnless, noCorpus } from '../needs.testing.ts';
import { type CorpusPolicy, kyvernoCorpus, ownFolders, policiesBelow } from './corpus.testing.ts';

interface Verdict {
  readonly name: string;
  readonly features: CorpusPolicy['features'];
  readonly status: ConversionStatus;
  /** Converted completely, and the same on all requests; a lost transaction may be reported beside it. */
  readonly isEqual: boolean;
  readonly reason: string;
}

async function verdictOn(policy: CorpusPolicy): Promise<readonly Verdict[]> {
  const { document, name, features, objects } = policy;
  const old = compileSource(document);
  if (old === undefined) return [];
  const source = policy.source === '' ? writeYaml(document.value) : policy.source;
  const conversion = convertSource(document.value, { to: 'mutatingpolicy', source });
  if (conversion === undefined) return [];
  const samples = objects.flatMap((object): Sample[] => {
    const sample = { origin: 'its case', object, user: defaultUser, namespaceLabels: {} };
    return [
      { ...sample, operation: 'CREATE' },
      { ...sample, operation: 'UPDATE', oldObject: object },
    ];
  });
  const checked = await checkConversion(old, conversion, { samples, limit: 250 });
  const [refusal] = conversion.refusals;
  const fault = checked.proof?.difference?.fault;
  const reason =
    refusal === undefined
      ? (checked.problems[0]?.message ??
        conversion.differences[0]?.reason ??
        `${fault?.path ?? ''} ${fault?.message ?? ''}`)
      : `${refusal.path}: ${refusal.reason}`;
  const isEqual =
    checked.proof !== undefined &&
    fault === undefined &&
    refusal === undefined &&
    checked.problems.length === 0;
  return [{ name, features, status: checked.status, isEqual, reason }];
}

async function verdictsOn(policies: readonly CorpusPolicy[]): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const policy of policies) verdicts.push(...(await verdictOn(policy)));
  return verdicts;
}

function count(verdicts: readonly Verdict[], features: string, status?: ConversionStatus): number {
  return verdicts.filter(
    (each) => each.features === features && (status === undefined || each.status === status),
  ).length;
}

/** Prints the counts: they are the measure of the converter. */
function print(title: string, verdicts: readonly Verdict[]): void {
  const counts = ['m', 'p', 'n'].map((features) => {
    const [all, proven] = [count(verdicts, features), count(verdicts, features, 'proven')];
    return `${features}: ${proven} of ${all} converted and proven, ${count(verdicts, features, 'differs')} differ, ${count(verdicts, features, 'refused')} refused`;
  });
  process.stderr.write(`conversion of ${title}: ${counts.join('; ')}\n`);
}

function expectations(title: string, policies: () => readonly CorpusPolicy[]): void {
  it('converts what converts mechanically, and at least half of what converts in part', {
    timeout: 600_000,
  }, async () => {
    const verdicts = await verdictsOn(policies());
    print(title, verdicts);
    const mechanical = verdicts.filter(({ features }) => features === 'm');
    expect(
      mechanical.filter(({ isEqual }) => !isEqual).map(({ name, reason }) => `${name}: ${reason}`),
    ).toEqual([]);
    const partial = verdicts.filter(({ features }) => features === 'p');
    expect(partial.filter(({ isEqual }) => isEqual).length).toBeGreaterThanOrEqual(partial.length / 2);
    expect(count(verdicts, 'm') + count(verdicts, 'p')).toBeGreaterThan(10);
  });
}

describe('policies of the cookbook and the samples', () => {
  expectations('the cookbook and the samples', () => ownFolders.flatMap(policiesBelow));
});

const corpus = policiesBelow(kyvernoCorpus);
describeUnless(corpus.length === 0 ? noCorpus : undefined)('policies of Kyverno', () => {
  expectations("Kyverno's policies", () => corpus);
});
