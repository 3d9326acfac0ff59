import { celDocumentType, loadCelCompilers } from '../../policy/cel-documents.ts';
import { readDocuments, type SourceDocument } from '../../policy/documents.ts';
import { InputError, inputError } from '../../problem.ts';
import { openCluster } from '../input/cluster-input.ts';
import { expandInputs } from '../input/input-paths.ts';
import { displayName, readWhole } from '../input/text-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { type Places, placesOf, totalsOf } from './places.ts';
import { formatMigration } from './text.ts';
import { type PolicyVerdict, verdictOn } from './verdict.ts';

export interface MigrateOptions {
  readonly format: 'table' | 'json';
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly color?: boolean | undefined;
}

/** A policy with its verdict, and where it can run. */
export interface PlacedVerdict extends PolicyVerdict {
  readonly places: Places;
}

/** `kymera migrate check`: reports which policies run unchanged, and where else they can run. */
export async function check(names: readonly string[], options: MigrateOptions, io: Io): Promise<ExitCode> {
  if (names.length > 0 === (options.cluster === true))
    throw inputError('KYM_USAGE', 'name files with policies, or use --cluster');
  const documents =
    options.cluster === true ? await clusterPolicies(options, io) : await fileDocuments(names, io);
  const verdicts = await verdictsOn(documents);
  if (verdicts.length === 0) {
    const place = options.cluster === true ? 'the cluster' : names.join(', ');
    throw inputError('KYM_INPUT_NOT_FOUND', `there is no policy in ${place}`);
  }
  const count = (verdict: PolicyVerdict['verdict']) =>
    verdicts.filter((each) => each.verdict === verdict).length;
  const summary = {
    same: count('same'),
    differs: count('differs'),
    refused: count('refused'),
    stays: count('stays'),
  };
  await io.stdout.write(
    options.format === 'json'
      ? `${JSON.stringify({ policies: verdicts, summary, places: totalsOf(verdicts) }, null, 2)}\n`
      : formatMigration(verdicts, summary, paintFor(io.stdout, io, options.color)),
  );
  return summary.differs + summary.refused === 0 ? 0 : 1;
}

async function verdictsOn(documents: readonly SourceDocument[]): Promise<readonly PlacedVerdict[]> {
  const cel = documents.some(({ value }) => celDocumentType(value) !== undefined)
    ? await loadCelCompilers()
    : undefined;
  const verdicts: PlacedVerdict[] = [];
  for (const document of documents) {
    const verdict = verdictOn(document, cel);
    if (verdict !== undefined) verdicts.push({ ...verdict, places: await placesOf(document, verdict) });
  }
  return verdicts;
}

async function fileDocuments(names: readonly string[], io: Io): Promise<readonly SourceDocument[]> {
  const found: SourceDocument[] = [];
  for (const { file, discovered } of await expandInputs(names, io.cwd)) {
    const text = await readWhole(file, io);
    // A folder may contain anything: an invalid file is an error only if it was named or mentions a policy group.
    if (discovered && !/kyverno\.io|nirmata\.io|kymera\.io|MutatingAdmissionPolicy/.test(text)) continue;
    const { documents, problems } = readDocuments({ file: displayName(file), text });
    if (problems.length > 0) throw new InputError(problems);
    found.push(...documents);
  }
  return found;
}

async function clusterPolicies(options: MigrateOptions, io: Io): Promise<readonly SourceDocument[]> {
  const cluster = await openCluster(options, io);
  try {
    const found: SourceDocument[] = [];
    for await (const value of cluster.policies())
      found.push({
        file: 'the cluster',
        value,
        positionOf: () => ({ line: 1, column: 1 }),
        writtenAt: () => undefined,
      });
    return found;
  } catch (error) {
    throw inputError('KYM_CLUSTER', error instanceof Error ? error.message : String(error));
  } finally {
    cluster.close();
  }
}
