import type { Outcome } from '../../engine/outcome.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { evaluationWarnings } from '../../offline/evaluation-warnings.ts';
import type { Evaluated } from '../../offline/evaluator.ts';
import { nameOf, titleOf } from '../../offline/object-identity.ts';
import {
  type AppliedObject,
  type ApplyFormat,
  countObject,
  countStep,
  createFormatter,
  noCounts,
  summaryOf,
  textOf,
} from '../../offline/output/apply-formats.ts';
import {
  absenceWarning,
  previewBackground,
  withBackgroundChanges,
} from '../../offline/output/background-preview.ts';
import { type Paint, plain } from '../../offline/output/paint.ts';
import { failureText, isAbsence, stepWarnings } from '../../offline/output/planned-changes.ts';
import { visible } from '../../offline/output/visible.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import { InputError, inputError, type Problem } from '../../problem.ts';
import { createCommandLog, type LogLevel } from '../command-log.ts';
import { type Run, type RunOptions, setUpRun } from '../input/run-setup.ts';
import type { ExitCode, Io } from '../io.ts';
import { noProgress, type Progress, showProgress } from '../output/progress.ts';
import { openResultOutput, type ResultOutput } from '../output/result-output.ts';
import { paintFor } from '../output/style.ts';

export interface ApplyOptions extends RunOptions {
  readonly format: ApplyFormat;
  /** A file or folder. */
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly color?: boolean | undefined;
  readonly showSecrets?: boolean | undefined;
}

/** `kymera apply`: applies policies to resources and prints the results. */
export async function apply(
  policyNames: readonly string[],
  options: ApplyOptions,
  io: Io,
): Promise<ExitCode> {
  let progress = noProgress;
  const run = await setUpRun(policyNames, options, io, {
    explain: false,
    onRead: (characters) => progress.read(characters),
  });
  if (isProgressWanted(options, io)) {
    progress = showProgress(io.stderr, { totalBytes: run.totalBytes, now: () => performance.now() });
  }
  const log = createCommandLog(io, options);
  for (const problem of run.warnings) await log.warn(problem);
  await log.info(`${run.policies.length} policies; ${run.kept} input objects kept for policies to read`);
  const output = await openResultOutput(options.output, io);
  const counts = noCounts();
  try {
    const errors = await applyToAll(run, options, output, log, progress, counts, io);
    progress.clear();
    if (errors.length > 0) throw new InputError(errors);
  } catch (error) {
    progress.clear();
    await output.discard();
    throw error;
  }
  await output.release();
  for (const problem of run.lateWarnings()) await log.warn(problem);
  await log.release();
  if (options.quiet !== true) {
    const isForPerson = ['diff', 'blame', 'table'].includes(options.format) || options.output !== undefined;
    await (isForPerson ? io.stdout : io.stderr).write(`${summaryOf(counts)}\n`);
  }
  return counts.rulesFailed > 0 ? 1 : 0;
}

/** Returns the errors of the input. */
async function applyToAll(
  run: Run,
  options: ApplyOptions,
  output: ResultOutput,
  log: ReturnType<typeof createCommandLog>,
  progress: Progress,
  counts: ReturnType<typeof noCounts>,
  io: Io,
): Promise<Problem[]> {
  if (output.apart && options.format !== 'yaml') {
    throw inputError('KYM_USAGE', `an output folder accepts only YAML, not -o ${options.format}`);
  }
  const isOnScreen = options.output === undefined && io.stdout.isTTY;
  const paint = options.output === undefined ? paintFor(io.stdout, io, options.color) : plain;
  const formatter = createFormatter(options.format, paint, {
    columns: isOnScreen ? io.stdout.columns : undefined,
    showSecrets: options.showSecrets,
  });
  const print = async (applied: AppliedObject) => {
    const text = output.apart ? textOf(applied) : formatter.object(applied);
    if (text !== '') await output.write(text, nameOf(applied.resource.object));
    countObject(applied, counts);
  };
  const errors: Problem[] = [];
  const background = previewBackground(run.background);
  // Background rules may change any object after all are admitted.
  const held: AppliedObject[] = [];
  for await (const item of run.items) {
    if ('problem' in item) {
      if (item.problem.severity === 'error') errors.push(item.problem);
      else await log.warn(item.problem);
      continue;
    }
    const role = resourceRole(item.object);
    if (role === 'tooling') continue;
    const evaluated = role === 'policy' ? undefined : await run.evaluator.evaluate(item.object);
    const applied = { resource: item, evaluated };
    if (background === undefined) await print(applied);
    else held.push(applied);
    progress.step();
    if (evaluated === undefined) {
      if (!item.discovered) await log.warn(misplacedPolicy(item));
      continue;
    }
    background?.admitted(evaluated.after);
    for (const text of failuresOf(item.object, evaluated, log.paint)) await log.error(text);
    const warnings = evaluationWarnings(titleOf(item.object), evaluated.outcomes);
    for (const warning of warnings) await log.warn(warning);
  }
  if (background !== undefined) {
    const { changes, steps } = await background.finish();
    for (const applied of withBackgroundChanges(held, changes)) await print(applied);
    if (!output.apart) await output.write(formatter.steps(steps), '');
    for (const step of steps) {
      countStep(step, counts);
      for (const warning of stepWarnings(step)) await log.warn(warning);
      if (isAbsence(step)) await log.warn(absenceWarning(step));
      else if (step.action === 'failed') await log.error(failureText(step, log.paint));
    }
  }
  if (!output.apart) await output.write(formatter.end(), '');
  return errors;
}

function isProgressWanted({ quiet }: ApplyOptions, io: Io): boolean {
  return io.stderr.isTTY && quiet !== true && io.env['TERM'] !== 'dumb' && io.env['CI'] !== 'true';
}

/** In `-r pod.yaml policy.yaml` the policy is one of the resources. */
function misplacedPolicy({ object, file, line }: Resource): Problem {
  return {
    code: 'KYM_USAGE',
    severity: 'warning',
    message: `${titleOf(object)} is listed as a resource and is not applied`,
    hint: 'name policies first: -r takes every path after it, up to the next option',
    pointer: '',
    file,
    line,
  };
}

function failuresOf(object: JsonObject, evaluated: Evaluated, paint: Paint): string[] {
  return evaluated.outcomes.flatMap((outcome) =>
    outcome.status === 'failed' ? [formatFailure(titleOf(object), outcome, paint)] : [],
  );
}

/** Deeper paths inside an autogen rule do not exist in the rule that the author wrote. */
function writtenPath({ rule, failure }: Extract<Outcome, { status: 'failed' }>): Path {
  return rule.autogenOf === undefined ? failure.rulePath : failure.rulePath.slice(0, 2);
}

function formatFailure(title: string, outcome: Extract<Outcome, { status: 'failed' }>, paint: Paint): string {
  const { policy, rule, failure, message } = outcome;
  const locations = [
    `at ${formatPointer([...rule.path, ...writtenPath(outcome)])} of ${policy.source.file}`,
    ...(failure.objectPath === undefined ? [] : [`at ${formatPointer(failure.objectPath)} of the object`]),
  ];
  const text = `policy ${policy.key}, rule ${rule.name}: ${message} (${locations.join(', ')})`;
  return `${paint('red', 'failed')}: ${paint('bold', visible(title))}: ${visible(text)} [${failure.code}]`;
}
