import { helmHint, looksLikeHelm } from '../../yaml/advice.ts';

/** An expression that does not parse. */
export class ExpressionSyntaxError extends Error {
  override readonly name = 'ExpressionSyntaxError';
  /** Offset in the expression's source. */
  readonly position: number;
  constructor(message: string, position: number, options?: ErrorOptions) {
    super(message, options);
    this.position = position;
  }
}

/** A hint for common mistakes in an expression that does not parse. */
export function syntaxHint(text: string): string | undefined {
  if (looksLikeHelm(`{{${text}`)) return helmHint;
  if (/\.\s*'/.test(text)) return `single quotes make a raw string; a key is written in double quotes: a."b"`;
  if (/\w-\w/.test(text))
    return 'keys with dashes, dots or slashes need double quotes: metadata.labels."my-key"';
  if (/(^|[(,=<>\s])-?\d/.test(text)) return 'a number is written in backticks: `5`';
  if (/\$\(/.test(text)) return 'a reference $( ) cannot stand inside an expression';
  return undefined;
}
