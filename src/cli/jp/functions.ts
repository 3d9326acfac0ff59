import { didYouMean } from '../../expression/did-you-mean.ts';
import type { ExpressionFunction } from '../../expression/functions/function-signature.ts';
import { functionExample, functionSignature } from '../../expression/functions/function-text.ts';
import { functionTable } from '../../expression/functions/table.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import type { Paint } from '../../offline/output/paint.ts';
import { inputError } from '../../problem.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';

/** `kymera jp functions`: lists the functions of expressions. */
export async function functions(
  names: readonly string[],
  options: { readonly color?: boolean | undefined },
  io: Io,
): Promise<ExitCode> {
  const all = [...functionTable.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const paint = paintFor(io.stdout, io, options.color);
  const chosen = names.length === 0 ? all : names.flatMap((name) => find(name, all));
  await io.stdout.write(chosen.map((entry) => format(entry, paint)).join('\n'));
  return 0;
}

function find(name: string, all: readonly ExpressionFunction[]): readonly ExpressionFunction[] {
  const pattern = compileWildcard(name);
  const found = all.filter((entry) => pattern.matches(entry.name));
  if (found.length > 0) return found;
  const similar = didYouMean(name, [...functionTable.keys()]);
  const hint = similar === undefined ? 'kymera jp functions lists all functions' : `did you mean ${similar}?`;
  throw inputError('KYM_USAGE', `there is no function ${name}`, { hint });
}

function format(entry: ExpressionFunction, paint: Paint): string {
  const { expression, result, data } = functionExample(entry);
  const over = data === undefined ? '' : paint('dim', ` over ${data}`);
  return `${paint('bold', functionSignature(entry))}\n  ${entry.description}\n  ${expression}${over} → ${result}\n`;
}
