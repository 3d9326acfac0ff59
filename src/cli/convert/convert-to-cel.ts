import type { ConversionTarget } from '../../convert/types.ts';
import { unifiedDiff } from '../../offline/output/unified-diff.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import { loadDocuments } from '../../policy/load.ts';
import { InputError } from '../../problem.ts';
import { noPolicy, readPolicyTexts } from '../input/policy-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { type NewText, writeFiles } from '../output/result-output.ts';
import { paintFor } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';
import { givenSamples, testSamples } from './cel-samples.ts';
import { differenceText, statusText } from './proof-text.ts';
import { htmlReport, markdownReport } from './report.ts';
import { type ConvertedFile, filesToCel } from './to-cel.ts';

export interface ConvertToCelOptions {
  readonly format: 'diff' | 'yaml';
  readonly to: ConversionTarget;
  readonly write?: boolean | undefined;
  readonly partial?: boolean | undefined;
  readonly report?: string | undefined;
  readonly resource?: readonly string[] | undefined;
  readonly color?: boolean | undefined;
}

const kinds = { mutatingpolicy: 'MutatingPolicy', map: 'MutatingAdmissionPolicy' } as const;

/** `kymera convert --to mutatingpolicy|map`: converts policies to CEL and compares both forms. */
export async function convertToCel(
  names: readonly string[],
  options: ConvertToCelOptions,
  io: Io,
): Promise<ExitCode> {
  const sources = await readPolicyTexts(names, io);
  const loaded = loadDocuments(sources, { cel: celCompilers });
  const errors = loaded.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  const samples = await givenSamples(options.resource ?? [], io);
  const files = await filesToCel(sources, {
    to: options.to,
    partial: options.partial === true,
    samples,
    testSamples: (file, policies) => testSamples(file, policies, io),
  });
  const policies = files.flatMap((file) => file.policies);
  if (policies.length === 0) throw noPolicy(names, sources, loaded);
  await writeReport(files, options, io);
  await show(files, options, io);
  await explain(files, options, io);
  if (options.write === true) await writeFiles(changed(files), io);
  return policies.every(({ checked }) => checked.status === 'proven') ? 0 : 1;
}

function changed(files: readonly ConvertedFile[]): readonly NewText[] {
  return files
    .filter(({ before, after }) => before !== after)
    .map(({ file, after }) => ({ file, text: after }));
}

async function writeReport(
  files: readonly ConvertedFile[],
  { report, to }: ConvertToCelOptions,
  io: Io,
): Promise<void> {
  if (report === undefined) return;
  const base = report.replace(/\.(?:html|md)$/, '');
  await writeFiles(
    [
      { file: `${base}.html`, text: htmlReport(files, kinds[to]) },
      { file: `${base}.md`, text: markdownReport(files, kinds[to]) },
    ],
    io,
  );
}

async function show(files: readonly ConvertedFile[], options: ConvertToCelOptions, io: Io): Promise<void> {
  if (options.write === true) return;
  const paint = paintFor(io.stdout, io, options.color);
  let isLater = false;
  for (const { file, before, after } of files) {
    if (before === after) continue;
    if (options.format === 'yaml')
      await io.stdout.write(isLater && !after.startsWith('---') ? `---\n${after}` : after);
    else
      await io.stdout.write(
        unifiedDiff({ before: file, after: `${file} (converted)` }, before, after, paint),
      );
    isLater = true;
  }
}

/** The verdict on each policy, with the reasons and the first difference. */
async function explain(files: readonly ConvertedFile[], options: ConvertToCelOptions, io: Io): Promise<void> {
  const paint = paintFor(io.stderr, io, options.color);
  const lines: string[] = [];
  const policies = files.flatMap((file) => file.policies);
  for (const policy of policies) {
    const { file, line, name, checked, problems } = policy;
    lines.push(`${paint('bold', `${file}:${line}`)}: policy ${name}: ${statusText(policy)}`);
    for (const problem of problems) lines.push(formatProblem(problem, paint));
    if (checked.proof?.difference !== undefined) lines.push(differenceText(checked.proof.difference, paint));
  }
  const count = (status: string) => policies.filter(({ checked }) => checked.status === status).length;
  const unproven = count('unproven');
  const targets = unproven === 0 ? '' : `${unproven} converted with targets not proven, `;
  lines.push(
    `${count('proven')} converted and proven, ${targets}${count('differs')} with differences, ${count('refused')} not convertible${writtenText(files, options)}`,
  );
  await io.stderr.write(`${lines.join('\n')}\n`);
}

function writtenText(files: readonly ConvertedFile[], { write }: ConvertToCelOptions): string {
  if (write !== true) return '';
  const count = changed(files).length;
  return `; ${count === 1 ? '1 file' : `${count} files`} written`;
}
