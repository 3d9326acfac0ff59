import type { Outcome } from '../engine/outcome.ts';
import { formatPointer } from '../json/pointer.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../problem.ts';
import { type ApplyFormat, createFormatter } from './apply-format.ts';
import type { Evaluated } from './evaluator.ts';
import { holdOutput } from './held-output.ts';
import { InputError } from './input-error.ts';
import type { ExitCode, Io } from './io.ts';
import { titleOf } from './object-identity.ts';
import { formatProblem } from './problem-text.ts';
import { resourceRole } from './resource-role.ts';
import { type RunOptions, setUpRun } from './run-setup.ts';
import { type Paint, paintFor } from './style.ts';

export interface ApplyOptions extends RunOptions {
  readonly output: ApplyFormat;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

/** `kymera apply`: prints what policies make of resources. */
export async function apply(
  policyNames: readonly string[],
  options: ApplyOptions,
  io: Io,
): Promise<ExitCode> {
  const run = await setUpRun(policyNames, options, io, { explain: false });
  const errorPaint = paintFor(io.stderr, io, options.color);
  const formatter = createFormatter(options.output, paintFor(io.stdout, io, options.color));
  const output = holdOutput(io.stdout);
  const counts = { objects: 0, changed: 0, failed: 0, applied: 0, skipped: 0, rulesFailed: 0 };
  const errors: Problem[] = [];
  const messages = run.warnings.map((problem) => formatProblem(problem, errorPaint));

  for await (const item of run.items) {
    if ('problem' in item) {
      if (item.problem.severity === 'error') errors.push(item.problem);
      else messages.push(formatProblem(item.problem, errorPaint));
      continue;
    }
    const role = resourceRole(item.object);
    if (role === 'tooling') continue;
    const evaluated = role === 'policy' ? undefined : await run.evaluator.evaluate(item.object);
    await output.write(formatter.object(item, evaluated));
    if (evaluated === undefined) continue;
    count(evaluated, counts);
    messages.push(...failuresOf(item.object, evaluated, errorPaint));
  }
  if (errors.length > 0) {
    output.discard();
    throw new InputError(errors);
  }
  await output.write(formatter.end());
  await output.release();
  if (messages.length > 0) await io.stderr.write(`${messages.join('\n')}\n`);
  if (options.quiet !== true) {
    const target = options.output === 'diff' ? io.stdout : io.stderr;
    await target.write(`${summaryOf(counts)}\n`);
  }
  return counts.rulesFailed > 0 ? 1 : 0;
}

interface Counts {
  objects: number;
  changed: number;
  failed: number;
  applied: number;
  skipped: number;
  rulesFailed: number;
}

function count(evaluated: Evaluated, counts: Counts): void {
  counts.objects++;
  if (evaluated.failedPolicies.length > 0) counts.failed++;
  else if (evaluated.after !== evaluated.before) counts.changed++;
  for (const outcome of evaluated.outcomes) {
    if (outcome.status === 'applied') counts.applied++;
    else if (outcome.status === 'failed') counts.rulesFailed++;
    else counts.skipped++;
  }
}

function summaryOf(counts: Counts): string {
  const unchanged = counts.objects - counts.changed - counts.failed;
  const objects = `${counts.objects} object${counts.objects === 1 ? '' : 's'}`;
  return (
    `${objects}: ${counts.changed} changed, ${unchanged} unchanged, ${counts.failed} failed; ` +
    `rules: ${counts.applied} applied, ${counts.skipped} skipped, ${counts.rulesFailed} failed`
  );
}

function failuresOf(object: JsonObject, evaluated: Evaluated, paint: Paint): string[] {
  return evaluated.outcomes.flatMap((outcome) =>
    outcome.status === 'failed' ? [formatFailure(titleOf(object), outcome, paint)] : [],
  );
}

function formatFailure(title: string, outcome: Extract<Outcome, { status: 'failed' }>, paint: Paint): string {
  const { policy, rule, failure, message } = outcome;
  const places = [
    `at ${formatPointer([...rule.path, ...failure.rulePath])} of ${policy.source.file}`,
    ...(failure.objectPath === undefined || failure.objectPath.length === 0
      ? []
      : [`at ${formatPointer(failure.objectPath)} of the object`]),
  ];
  return `${paint('red', 'failed')}: ${paint('bold', title)}: policy ${policy.key}, rule ${rule.name}: ${message} (${places.join(', ')}) [${failure.code}]`;
}
