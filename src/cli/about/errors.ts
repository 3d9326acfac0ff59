import { readFile } from 'node:fs/promises';
import { type ErrorCode, errorTable } from '../../errors.ts';
import { didYouMean } from '../../expression/did-you-mean.ts';
import { inputError } from '../../problem.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { packageRoot } from '../package-root.ts';
import { headingAnchor } from './heading-anchor.ts';

const codes = (Object.keys(errorTable) as ErrorCode[]).sort();
/** Hints name its sections. */
const differences = new URL('docs/differences-from-kyverno.md', packageRoot);

/** `kymera errors`: prints the page of each code or topic, or a list of all codes. */
export async function explainErrors(names: readonly string[], io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stdout, io, undefined);
  if (names.length === 0) {
    const width = Math.max(...codes.map((code) => code.length));
    await io.stdout.write(codes.map((code) => `${code.padEnd(width)}  ${errorTable[code].cause}\n`).join(''));
    return 0;
  }
  const pages: string[] = [];
  for (const name of names) {
    const code = codeOf(name);
    if (code === undefined) pages.push(await topicPage(name));
    else {
      const { cause, cure } = errorTable[code];
      pages.push(`${paint('bold', code)}\n\n${cause}\n\nFix: ${cure}\n`);
    }
  }
  await io.stdout.write(pages.join('\n'));
  return 0;
}

/** Accepts a code as messages print it: `[KYM_USAGE]`, `usage`. */
function codeOf(name: string): ErrorCode | undefined {
  const bare = name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '');
  return codes.find((known) => known === bare || known === `KYM_${bare}`);
}

/** A section of the differences from Kyverno. */
async function topicPage(name: string): Promise<string> {
  const page = await readFile(differences, 'utf8').catch(() => '');
  const sections = page.split(/^(?=#{2,} )/m).map((text) => ({ text, topic: topicOf(text) }));
  const found = sections.find(({ topic }) => topic === name);
  if (found !== undefined) return `${found.text.trim()}\n`;
  const similar =
    didYouMean(name, codes) ??
    didYouMean(
      name,
      sections.map(({ topic }) => topic),
    ) ??
    didYouMean(`KYM_${name}`, codes);
  throw inputError('KYM_USAGE', `there is no error code or topic ${name}`, {
    hint: similar === undefined ? 'kymera errors lists all codes' : `did you mean ${similar}?`,
  });
}

/** An argument cannot start with a dash. */
function topicOf(section: string): string {
  const heading = /^#+ (.*)$/m.exec(section)?.[1] ?? '';
  return headingAnchor(heading).replace(/^-+/, '');
}
