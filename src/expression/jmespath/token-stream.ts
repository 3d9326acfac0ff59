import type { Token } from './lexer.ts';
import { ExpressionSyntaxError } from './syntax-error.ts';

/** The tokens of an expression, one after the other; the last one is `end`. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  next(ahead = 0): Token {
    return this.#tokens[this.#index + ahead] ?? (this.#tokens.at(-1) as Token);
  }

  take(): Token {
    const token = this.next();
    this.#index++;
    return token;
  }

  expect(type: Token['type']): void {
    const token = this.take();
    if (token.type !== type) this.unexpected(token, type);
  }

  unexpected(token: Token, expected?: string): never {
    const found = token.type === 'end' ? 'end of the expression' : describe(token);
    throw new ExpressionSyntaxError(
      `unexpected ${found}${expected ? `, expected ${expected}` : ''}`,
      token.start,
    );
  }
}

function describe(token: Token): string {
  if (token.type === 'identifier') return `"${token.name}"`;
  if (token.type === 'number') return `number ${token.value}`;
  if (token.type === 'raw') return 'raw string';
  if (token.type === 'quoted') return 'quoted key';
  if (token.type === 'literal' || token.type === 'bound-literal') return 'literal';
  return `"${token.type}"`;
}
