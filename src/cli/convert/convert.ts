import { unifiedDiff } from '../../offline/output/unified-diff.ts';
import { loadDocuments } from '../../policy/load.ts';
import { noPolicy, readPolicyTexts } from '../input/policy-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { type NewText, writeFiles } from '../output/result-output.ts';
import { paintFor } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';
import { type ConversionTarget, convertFile } from './file.ts';

export interface ConvertOptions {
  readonly format: 'diff' | 'yaml';
  readonly write?: boolean | undefined;
  readonly to?: ConversionTarget | undefined;
  readonly color?: boolean | undefined;
}

/** `kymera convert`: converts policies to the current API version. */
export async function convert(names: readonly string[], options: ConvertOptions, io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stdout, io, options.color);
  const errorPaint = paintFor(io.stderr, io, options.color);
  const counts = { documents: 0, changed: 0, failed: 0 };
  const changed: NewText[] = [];
  const files = await readPolicyTexts(names, io);
  for (const { file, text } of files) {
    const converted = convertFile(file, text, options.to);
    counts.documents += converted.documents;
    const hasChanged = converted.text !== text;
    if (hasChanged) counts.changed++;
    if (options.write === true) {
      if (hasChanged) changed.push({ file, text: converted.text });
    } else if (options.format === 'yaml') {
      await io.stdout.write(separated(converted.text, counts.documents > converted.documents));
    } else if (hasChanged) {
      const titles = { before: file, after: `${file} (converted)` };
      await io.stdout.write(unifiedDiff(titles, text, converted.text, paint));
    }
    for (const problem of converted.problems) {
      if (problem.severity === 'error') counts.failed++;
      await io.stderr.write(`${formatProblem(problem, errorPaint)}\n`);
    }
  }
  if (counts.documents === 0 && counts.failed === 0) throw noPolicy(names, files, loadDocuments(files));
  await writeFiles(changed, io);
  await io.stderr.write(`${summary(counts, options.write === true)}\n`);
  return counts.failed > 0 ? 1 : 0;
}

function separated(text: string, isLater: boolean): string {
  return isLater && !text.startsWith('---') ? `---\n${text}` : text;
}

function summary(counts: { documents: number; changed: number; failed: number }, written: boolean): string {
  const files = counts.changed === 1 ? '1 file' : `${counts.changed} files`;
  const changed =
    counts.changed === 0 ? 'nothing to convert' : `${files} ${written ? 'converted' : 'to convert'}`;
  if (counts.failed === 0) return changed;
  return `${changed}; ${counts.failed} ${counts.failed === 1 ? 'problem' : 'problems'}`;
}
