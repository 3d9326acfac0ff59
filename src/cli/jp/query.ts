import { parseAllDocuments } from 'yaml';
import { errorTable } from '../../errors.ts';
import { type CompiledExpression, compileExpression } from '../../expression/expression.ts';
import { EvaluationError, untilReady } from '../../expression/scope.ts';
import { generousLimits } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { visible, visibleLine } from '../../offline/output/visible.ts';
import { inputError } from '../../problem.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { yamlDepthBound } from '../../yaml/depth.ts';
import { convertYaml } from '../../yaml/value.ts';
import { displayName, readWhole } from '../input/text-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { formatSyntaxError, readExpressions } from './expression.ts';

export interface QueryOptions {
  readonly input?: string | undefined;
  readonly query?: readonly string[] | undefined;
  readonly compact?: boolean | undefined;
  readonly unquoted?: boolean | undefined;
  readonly color?: boolean | undefined;
}

/** `kymera jp query`: evaluates expressions on a document. */
export async function query(given: readonly string[], options: QueryOptions, io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stderr, io, options.color);
  const files = options.query ?? [];
  const input = options.input ?? '-';
  if (input === '-' && (given.length + files.length === 0 || files.includes('-'))) {
    throw inputError('KYM_USAGE', 'standard input cannot be both the document and the expression', {
      hint: 'pass the expression as an argument, or the document with --input',
    });
  }
  const expressions: CompiledExpression[] = [];
  for (const text of await readExpressions(given, files, io)) {
    try {
      expressions.push(compileExpression(text));
    } catch (error) {
      await io.stderr.write(formatSyntaxError(error, text, paint));
      return 2;
    }
  }
  const documents = await readValues(input, io);
  const hasTitles = expressions.length * documents.length > 1;
  let exitCode: ExitCode = 0;
  for (const document of documents) {
    for (const expression of expressions) {
      if (hasTitles) await io.stdout.write(`# ${visibleLine(expression.text)}\n`);
      try {
        const value = await untilReady(() => expression.search(document, systemEnvironment), generousLimits);
        await io.stdout.write(`${format(value, options)}\n`);
      } catch (error) {
        if (!(error instanceof EvaluationError)) throw error;
        const { message, code } = error;
        const hint = `  ${paint('cyan', 'hint')}: ${errorTable[code].cure}`;
        await io.stderr.write(
          `${paint('red', 'error')}: ${visible(`${expression.text}: ${message}`)} [${code}]\n${hint}\n`,
        );
        exitCode = 1;
      }
    }
  }
  return exitCode;
}

function format(value: Json, options: QueryOptions): string {
  if (options.unquoted === true && typeof value === 'string') return value;
  return stringifyJson(value, options.compact === true ? undefined : 2);
}

const maximumDepth = 500;

/** The documents of a file, which can be any values. */
async function readValues(file: string, io: Io): Promise<readonly Json[]> {
  const text = await readWhole(file, io);
  const place = { file: displayName(file) };
  if (yamlDepthBound(text) > maximumDepth) {
    throw inputError('KYM_INPUT_TOO_DEEP', `values nest deeper than ${maximumDepth} levels`, place);
  }
  const parsed = parseAllDocuments(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const documents = 'empty' in parsed ? [] : parsed;
  const values = documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      const [start] = error.linePos ?? [];
      const position = start === undefined ? {} : { line: start.line, column: start.col };
      throw inputError('KYM_YAML_SYNTAX', error.message.split('\n')[0] ?? '', { ...place, ...position });
    }
    const { value, problems } = convertYaml(document.contents, new WeakMap());
    const [problem] = problems;
    if (problem === undefined) return value;
    throw inputError(
      problem.kind === 'aliases' ? 'KYM_YAML_ALIASES' : 'KYM_YAML_SYNTAX',
      problem.message,
      place,
    );
  });
  return values.length === 0 ? [null] : values;
}
