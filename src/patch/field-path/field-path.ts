/** One step of a replacement's field path. */
export type FieldStep =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'last' }
  | { readonly type: 'every' }
  | MatchStep;

/** `[key=value]`, or `[=value]` for the items themselves, with an empty key. */
export interface MatchStep extends FieldText {
  readonly type: 'match';
  readonly key: string;
}

/** How a value in `[key=value]` is compared. */
export interface FieldText {
  readonly text: string;
  /** False for a pattern, which cannot create an item. */
  readonly literal: boolean;
  matches(text: string): boolean;
}

export interface FieldPathSyntax {
  readonly compare: (value: string) => FieldText;
  /** Whether `-` means the last item of a list. */
  readonly lastItem: boolean;
}

export class FieldPathError extends Error {
  override readonly name = 'FieldPathError';
}

/**
 * Parses `spec.containers.[name=web].env.0.value`. Throws FieldPathError.
 * A dot in a name is written `a\.b` or `[a.b/c]`.
 */
export function parseFieldPath(text: string, syntax: FieldPathSyntax): readonly FieldStep[] {
  return splitFieldPath(text).map((part) => parseStep(part, syntax));
}

export function parseStep(part: string, syntax: FieldPathSyntax): FieldStep {
  if (/^\d+$/.test(part)) return { type: 'index', index: Number(part) };
  if (part === '*') return { type: 'every' };
  if (part === '-' && syntax.lastItem) return { type: 'last' };
  const pair = splitMatch(part);
  if (pair === undefined) return { type: 'field', name: part };
  return { type: 'match', key: pair.key, ...syntax.compare(pair.value) };
}

/** Key and value of `[key=value]`; undefined for other parts. */
export function splitMatch(part: string): { readonly key: string; readonly value: string } | undefined {
  if (!part.startsWith('[') || !part.endsWith(']')) return undefined;
  const equals = part.indexOf('=');
  if (equals < 0) {
    throw new FieldPathError(
      `'${part}' must be [key=value]; brackets alone only quote a name that contains a dot`,
    );
  }
  return { key: part.slice(1, equals), value: part.slice(equals + 1, -1) };
}

/** Splits at dots, except at `\.` and inside brackets. A leading dot is ignored. */
export function splitFieldPath(text: string): readonly string[] {
  const pieces: string[] = [];
  for (const piece of text.split('.')) {
    const last = pieces.at(-1);
    if (last?.endsWith('\\')) pieces[pieces.length - 1] = `${last.slice(0, -1)}.${piece}`;
    else pieces.push(piece);
  }
  if (pieces.length > 1 && pieces[0] === '') pieces.shift();
  const parts: string[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] ?? '';
    if (!piece.startsWith('[') || piece.endsWith(']')) {
      parts.push(piece);
      continue;
    }
    const close = pieces.findIndex((other, index) => index > at && other.endsWith(']'));
    const end = close < 0 ? pieces.length - 1 : close;
    const bracketed = pieces.slice(at, end + 1).join('.');
    parts.push(bracketed.includes('=') ? bracketed : bracketed.replace(/^\[+|\]+$/g, ''));
    at = end;
  }
  return parts;
}
