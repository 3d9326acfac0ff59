import type { Path } from './value.ts';

/** The RFC 6901 pointer of a path: `['a', 'b/c', 0]` → `/a/b~1c/0`. */
export function formatPointer(path: Path): string {
  let text = '';
  for (const token of path) text += `/${typeof token === 'number' ? token : escapeToken(token)}`;
  return text;
}

export function escapeToken(token: string): string {
  if (!token.includes('~') && !token.includes('/')) return token;
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * The tokens of an RFC 6901 pointer; '' is the root. Throws PointerSyntaxError.
 * With `lenient`, a `~` that does not start an escape is literal.
 */
export function parsePointer(
  text: string,
  options: { readonly lenient?: boolean | undefined } = {},
): string[] {
  if (text === '') return [];
  if (!text.startsWith('/')) throw new PointerSyntaxError("a path must start with '/'");
  const tokens = text.slice(1).split('/');
  if (!text.includes('~')) return tokens;
  if (!options.lenient && /~(?![01])/.test(text)) {
    throw new PointerSyntaxError("in a path, '~' must be written '~0' and '/' in a key '~1'");
  }
  return tokens.map(unescapeToken);
}

// One pass, so that `~01` is `~1` and not `/`.
function unescapeToken(token: string): string {
  return token.includes('~') ? token.replace(/~[01]/g, (written) => (written === '~1' ? '/' : '~')) : token;
}

export class PointerSyntaxError extends Error {
  override readonly name = 'PointerSyntaxError';
}
