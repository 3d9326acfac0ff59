import { ExpressionSyntaxError, syntaxHint } from '../../expression/jmespath/syntax-error.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import type { Paint } from '../../offline/output/paint.ts';
import { replaceHidden, visible } from '../../offline/output/visible.ts';
import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';

/** Expressions from arguments, then from files; from standard input if there are none. */
export async function readExpressions(
  given: readonly string[],
  files: readonly string[],
  io: Io,
): Promise<readonly string[]> {
  const read: string[] = [];
  for (const file of files) read.push(await readWhole(file, io));
  const all = [...given, ...read];
  const texts = all.length > 0 ? all : [await readWhole('-', io)];
  return texts.map(withoutBraces);
}

/** An expression copied from a policy may still have its braces. */
function withoutBraces(text: string): string {
  const trimmed = text.trim();
  const [variable, ...others] = findVariables(trimmed);
  const isWhole = others.length === 0 && variable?.start === 0 && variable.end === trimmed.length;
  return isWhole ? variable.expression : trimmed;
}

/** Formats a syntax error with a caret at its position. Rethrows other errors. */
export function formatSyntaxError(error: unknown, text: string, paint: Paint): string {
  if (!(error instanceof ExpressionSyntaxError)) throw error;
  const before = text.slice(0, error.position);
  const line = before.split('\n').length - 1;
  const column = error.position - (before.lastIndexOf('\n') + 1);
  const lines = text.split('\n').map((part) => `  ${replaceHidden(part)}`);
  lines.splice(line + 1, 0, `  ${' '.repeat(column)}${paint(['red', 'bold'], '^')}`);
  const hint = syntaxHint(text);
  return [
    `${paint('red', 'error')}: ${visible(error.message)} [KYM_EXPRESSION_SYNTAX]`,
    ...lines,
    ...(hint === undefined ? [] : [`  ${paint('cyan', 'hint')}: ${visible(hint)}`]),
    '',
  ].join('\n');
}
