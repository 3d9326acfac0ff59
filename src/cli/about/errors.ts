import { type ErrorCode, errorTable } from '../../errors.ts';
import { didYouMean } from '../../expression/did-you-mean.ts';
import { inputError } from '../../problem.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';

const codes = (Object.keys(errorTable) as ErrorCode[]).sort();

/** `kymera errors`: prints the page of each code, or a list of all codes. */
export async function explainErrors(names: readonly string[], io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stdout, io, undefined);
  if (names.length === 0) {
    const width = Math.max(...codes.map((code) => code.length));
    await io.stdout.write(codes.map((code) => `${code.padEnd(width)}  ${errorTable[code].cause}\n`).join(''));
    return 0;
  }
  const pages = names.map(codeOf).map((code) => {
    const { cause, cure } = errorTable[code];
    return `${paint('bold', code)}\n\n${cause}\n\nFix: ${cure}\n`;
  });
  await io.stdout.write(pages.join('\n'));
  return 0;
}

/** Accepts a code as messages print it: `[KYM_USAGE]`, `usage`. */
function codeOf(name: string): ErrorCode {
  const bare = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '')
    .replace(/^KYM_/, '');
  const code = codes.find((known) => known === `KYM_${bare}`);
  if (code !== undefined) return code;
  const similar = didYouMean(`KYM_${bare}`, codes);
  throw inputError('KYM_USAGE', `there is no error code ${name}`, {
    hint: similar === undefined ? 'kymera errors lists all codes' : `did you mean ${similar}?`,
  });
}
