import type { CelScope } from '../../cel/compile/closure.ts';
import { admissionPolicyEnvironment, mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { type CelExpression, compileCel } from '../../cel/expression.ts';
import { neededVersion } from '../../cel/kubernetes-version.ts';
import { type CelProblem, problemAt } from '../../cel/syntax/problem.ts';
import type { Environment } from '../../cel/types/environment.ts';
import { formatType } from '../../cel/types/type.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { formatValue } from '../../cel/value/text.ts';
import { Optional, type Value } from '../../cel/value/value.ts';
import { errorTable } from '../../errors.ts';
import { EvaluationError, untilReady } from '../../expression/scope.ts';
import { generousLimits } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { nameOf, namespaceOf, textOf } from '../../json/metadata.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { Paint } from '../../offline/output/paint.ts';
import { visible, visibleLine } from '../../offline/output/visible.ts';
import { inputError } from '../../problem.ts';
import { parseYamlText } from '../../yaml/parse-text.ts';
import { commandEnvironment } from '../environment.ts';
import { displayName, readWhole } from '../input/text-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { codeFrame } from '../output/code-frame.ts';
import { paintFor } from '../output/style.ts';
import { type PolicyKind, readExpressions } from './expressions.ts';

export interface CheckOptions {
  readonly file?: readonly string[] | undefined;
  readonly kind: PolicyKind;
  readonly color?: boolean | undefined;
}

export interface EvalOptions extends CheckOptions {
  readonly input?: string | undefined;
  readonly old?: string | undefined;
  readonly params?: string | undefined;
  readonly compact?: boolean | undefined;
  readonly unquoted?: boolean | undefined;
}

/** `kymera cel check`: the types of expressions, or their problems. */
export async function check(given: readonly string[], options: CheckOptions, io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stderr, io, options.color);
  const sources = await readExpressions(given, options.file ?? [], io);
  const environment = environmentOf(options.kind, true);
  let exitCode: ExitCode = 0;
  for (const source of sources) {
    const { expression, problems } = compileCel(source, environment);
    if (expression === undefined) {
      exitCode = 2;
      for (const problem of problems)
        await io.stderr.write(formatProblem(problem, source, 'KYM_CEL_INVALID', paint));
    } else {
      const needed = options.kind === 'MutatingAdmissionPolicy' ? neededVersion(expression.node) : undefined;
      const since = needed === undefined ? '' : `\tKubernetes 1.${needed.minor} or later: ${needed.feature}`;
      const type = `${formatType(expression.type)}${since}`;
      await io.stdout.write(sources.length > 1 ? `${type}\t# ${visibleLine(source)}\n` : `${type}\n`);
    }
  }
  return exitCode;
}

/** `kymera cel eval`: the results of expressions over a document. */
export async function evaluate(given: readonly string[], options: EvalOptions, io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stderr, io, options.color);
  if (options.input === '-' && given.length + (options.file ?? []).length === 0) {
    throw inputError('KYM_USAGE', 'standard input cannot be both the document and the expression', {
      hint: 'give the expression as an argument',
    });
  }
  if (options.params !== undefined && options.kind !== 'MutatingAdmissionPolicy') {
    throw inputError('KYM_USAGE', 'only a MutatingAdmissionPolicy has params', {
      hint: 'add --kind MutatingAdmissionPolicy',
    });
  }
  const environment = environmentOf(options.kind, options.params !== undefined);
  const expressions: CelExpression[] = [];
  for (const source of await readExpressions(given, options.file ?? [], io)) {
    const { expression, problems } = compileCel(source, environment);
    if (expression === undefined) {
      for (const problem of problems)
        await io.stderr.write(formatProblem(problem, source, 'KYM_CEL_INVALID', paint));
      return 2;
    }
    expressions.push(expression);
  }
  const scope = scopeOf(await readVariables(options, io));
  let exitCode: ExitCode = 0;
  for (const expression of expressions) {
    if (expressions.length > 1) await io.stdout.write(`# ${visibleLine(expression.source)}\n`);
    try {
      const value = await untilReady(() => expression.evaluate(scope), generousLimits);
      await io.stdout.write(`${formatResult(value, options)}\n`);
    } catch (error) {
      if (!(error instanceof CelError || error instanceof EvaluationError)) throw error;
      const offset = error instanceof CelError ? error.offset : undefined;
      const code = error instanceof CelError ? 'KYM_CEL_FAILED' : error.code;
      const problem = problemAt(expression.source, offset ?? 0, error.message, errorTable[code].cure);
      await io.stderr.write(formatProblem(problem, expression.source, code, paint));
      exitCode = 1;
    }
  }
  return exitCode;
}

function environmentOf(kind: PolicyKind, params: boolean): Environment {
  return kind === 'MutatingPolicy' ? mutatingPolicyEnvironment() : admissionPolicyEnvironment({ params });
}

function formatProblem(problem: CelProblem, source: string, code: string, paint: Paint): string {
  const { message, hint, line, column } = problem;
  const hintLine = hint === undefined ? '' : `  ${paint('cyan', 'hint')}: ${visible(hint)}\n`;
  const frame = codeFrame(source, problem, paint);
  return `${paint('red', 'error')}: ${line}:${column}: ${visible(message)} [${code}]\n${frame}\n${hintLine}`;
}

async function readVariables(options: EvalOptions, io: Io): Promise<ReadonlyMap<string, Value>> {
  const object = await readDocument(options.input, io);
  const old = await readDocument(options.old, io);
  // A MutatingPolicy sees an empty object where there is none.
  const absent = options.kind === 'MutatingPolicy' ? {} : null;
  const variables = new Map<string, Value>([
    ['object', object ?? absent],
    ['oldObject', old ?? absent],
    ['request', requestOf(object, old)],
    ['namespaceObject', namespaceObjectOf(object)],
    ['exceptions', { allowedImages: [], allowedValues: [] }],
  ]);
  const params = await readDocument(options.params, io);
  if (params !== undefined) variables.set('params', params);
  return variables;
}

async function readDocument(file: string | undefined, io: Io): Promise<Json | undefined> {
  if (file === undefined) return undefined;
  const text = await readWhole(file, io);
  try {
    return parseYamlText(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_YAML_SYNTAX', message, { file: displayName(file) });
  }
}

/** The request that would create or update the document. */
function requestOf(object: Json | undefined, old: Json | undefined): Value {
  const document: JsonObject = isObject(object) ? object : {};
  const [version = '', group = ''] = textOf(member(document, 'apiVersion')).split('/').reverse();
  return {
    kind: { group, version, kind: textOf(member(document, 'kind')) },
    name: nameOf(document),
    namespace: namespaceOf(document),
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    userInfo: {},
    dryRun: true,
    object: object ?? null,
    oldObject: old ?? null,
  };
}

function namespaceObjectOf(object: Json | undefined): Value {
  const namespace = isObject(object) ? namespaceOf(object) : '';
  if (namespace === '') return null;
  return { metadata: { name: namespace, labels: { 'kubernetes.io/metadata.name': namespace } } };
}

function scopeOf(variables: ReadonlyMap<string, Value>): CelScope {
  return { lookup: (name) => variables.get(name), effects: commandEnvironment };
}

/** JSON where the value has such a form, else the way CEL writes it. */
function formatResult(value: Value, options: EvalOptions): string {
  if (options.unquoted === true && typeof value === 'string') return value;
  if (value instanceof Optional) {
    return value.value === undefined
      ? 'optional.none()'
      : `optional.of(${formatResult(value.value, options)})`;
  }
  try {
    return stringifyJson(toJson(value), options.compact === true ? undefined : 2);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return formatValue(value);
  }
}
