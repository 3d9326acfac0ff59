import { celCompilersFor } from '../../policy/cel-documents.ts';
import { readDocuments } from '../../policy/documents.ts';
import { InputError, inputError } from '../../problem.ts';
import { expandInputs } from '../input/input-paths.ts';
import { displayName, readWhole } from '../input/text-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { formatMigration } from './text.ts';
import { type PolicyVerdict, verdictOn } from './verdict.ts';

export interface MigrateOptions {
  readonly format: 'table' | 'json';
  readonly color?: boolean | undefined;
}

/** `kymera migrate check`: reports which Kyverno policies run unchanged. */
export async function check(names: readonly string[], options: MigrateOptions, io: Io): Promise<ExitCode> {
  const verdicts = await readVerdicts(names, io);
  if (verdicts.length === 0) {
    throw inputError('KYM_INPUT_NOT_FOUND', `there is no Kyverno policy in ${names.join(', ')}`);
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
      ? `${JSON.stringify({ policies: verdicts, summary }, null, 2)}\n`
      : formatMigration(verdicts, summary, paintFor(io.stdout, io, options.color)),
  );
  return summary.differs + summary.refused === 0 ? 0 : 1;
}

async function readVerdicts(names: readonly string[], io: Io): Promise<readonly PolicyVerdict[]> {
  const verdicts: PolicyVerdict[] = [];
  for (const { file, discovered } of await expandInputs(names, io.cwd)) {
    const text = await readWhole(file, io);
    // A folder may contain anything: an invalid file is an error only if it was named or mentions a policy group.
    if (discovered && !/kyverno\.io|nirmata\.io|kymera\.io/.test(text)) continue;
    const { documents, problems } = readDocuments({ file: displayName(file), text });
    if (problems.length > 0) throw new InputError(problems);
    const cel = await celCompilersFor([{ text }]);
    verdicts.push(...documents.flatMap((document) => verdictOn(document, cel) ?? []));
  }
  return verdicts;
}
