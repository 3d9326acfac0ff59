import type { Value } from '../value/value.ts';
import { type IdentNode, type LiteralNode, locate, make, type Node, qualifiedName } from './ast.ts';
import { type Token, type TokenKind, tokenize } from './lexer.ts';
import { readBytes, readDouble, readInteger, readString, readUint } from './literal.ts';
import { expandMacro, type MacroSet } from './macros.ts';
import { CelSyntaxError } from './problem.ts';

/** cel-go's limits for the size of an expression and for nested brackets. */
const longestExpression = 100_000;
const deepestNesting = 250;

const reservedNames: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
/** Names that the grammar itself uses. */
const keywords: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/** Whether an expression can use the text as a name. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text) && !reservedNames.has(text) && !keywords.has(text);
}

export interface ParseOptions {
  /** Whether names may stand in back-quotes. */
  readonly quotedNames?: boolean | undefined;
}

/** Parses a CEL expression and expands its macros. Throws CelSyntaxError. */
export function parse(source: string, macros: MacroSet, { quotedNames = true }: ParseOptions = {}): Node {
  if (source.length > longestExpression) {
    const size = Array.from(source).length;
    if (size > longestExpression) {
      throw new CelSyntaxError(
        `expression code point size exceeds limit: size: ${size}, limit ${longestExpression}`,
        0,
        'Split the expression into variables.',
      );
    }
  }
  const tokens = tokenize(source);
  const quoted = quotedNames ? undefined : tokens.find(({ kind }) => kind === 'quoted-identifier');
  if (quoted !== undefined) {
    throw new CelSyntaxError(
      "unsupported syntax: '`'",
      quoted.offset,
      'The API server does not accept quoted names: use a map with string keys.',
    );
  }
  const parser = new Parser(tokens, macros);
  return parser.parseAll();
}

const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=']);
const binaryLevels: readonly ReadonlySet<string>[] = [
  comparisons,
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
];

class Parser {
  private readonly tokens: readonly Token[];
  private readonly macros: MacroSet;
  private position = 0;
  private depth = 0;

  constructor(tokens: readonly Token[], macros: MacroSet) {
    this.tokens = tokens;
    this.macros = macros;
  }

  parseAll(): Node {
    const node = this.parseExpression();
    if (this.peek().kind !== 'end') throw this.unexpected();
    return node;
  }

  private peek(): Token {
    return this.tokens[this.position] as Token;
  }

  private next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.position++;
    return token;
  }

  private isSymbol(text: string): boolean {
    const token = this.peek();
    return token.kind === 'symbol' && token.text === text;
  }

  private accept(text: string): Token | undefined {
    return this.isSymbol(text) ? this.next() : undefined;
  }

  private expect(text: string): Token {
    if (!this.isSymbol(text)) throw this.unexpected(`'${text}'`);
    return this.next();
  }

  /** The node was read from `start` up to the last token. */
  private since(start: number, node: Node): Node {
    return locate(node, start, this.tokens[this.position - 1]?.end ?? start);
  }

  private unexpected(expected?: string): CelSyntaxError {
    const { kind, text, offset } = this.peek();
    const found = kind === 'end' ? '<EOF>' : text;
    const wish = expected === undefined ? '' : ` expecting ${expected}`;
    const hint = kind === 'end' ? 'The expression ends too early.' : undefined;
    return new CelSyntaxError(`Syntax error: mismatched input '${found}'${wish}`, offset, hint);
  }

  private parseExpression(): Node {
    if (++this.depth > deepestNesting) {
      throw new CelSyntaxError(
        `expression recursion limit exceeded: ${deepestNesting}`,
        this.peek().offset,
        'Split the expression into variables.',
      );
    }
    const start = this.peek().offset;
    const condition = this.parseLogic('||');
    const question = this.accept('?');
    let node = condition;
    if (question !== undefined) {
      const yes = this.parseLogic('||');
      this.expect(':');
      const no = this.parseExpression();
      const args = [condition, yes, no];
      node = make({ kind: 'call', name: '_?_:_', target: undefined, args, offset: question.offset });
      this.since(start, node);
    }
    this.depth--;
    return node;
  }

  private parseLogic(operator: '||' | '&&'): Node {
    const parseOperand = (): Node => (operator === '||' ? this.parseLogic('&&') : this.parseBinary(0));
    const start = this.peek().offset;
    const operands = [parseOperand()];
    let offset = 0;
    for (let token = this.accept(operator); token !== undefined; token = this.accept(operator)) {
      if (operands.length === 1) offset = token.offset;
      operands.push(parseOperand());
    }
    return operands.length === 1
      ? (operands[0] as Node)
      : this.since(start, make({ kind: 'logic', operator, operands, offset }));
  }

  private parseBinary(level: number): Node {
    const operators = binaryLevels[level];
    if (operators === undefined) return this.parseUnary();
    const start = this.peek().offset;
    let left = this.parseBinary(level + 1);
    for (;;) {
      const token = this.peek();
      const isIn = level === 0 && token.kind === 'identifier' && token.text === 'in';
      if (!isIn && !(token.kind === 'symbol' && operators.has(token.text))) return left;
      this.next();
      const right = this.parseBinary(level + 1);
      const name = isIn ? '@in' : `_${token.text}_`;
      left = make({ kind: 'call', name, target: undefined, args: [left, right], offset: token.offset });
      this.since(start, left);
    }
  }

  private parseUnary(): Node {
    const first = this.peek();
    if (first.kind !== 'symbol' || (first.text !== '!' && first.text !== '-')) return this.parseMember();
    let count = 0;
    while (this.isSymbol(first.text)) {
      const following = this.tokens[this.position + 1]?.kind;
      if (first.text === '-' && (following === 'int' || following === 'double')) break;
      this.next();
      count++;
    }
    const operand = this.isSymbol('!') ? this.parseUnary() : this.parseMember();
    // An even number of operators cancels out, as in cel-go.
    if (count % 2 === 0) return operand;
    const name = first.text === '!' ? '!_' : '-_';
    const node: Node = make({ kind: 'call', name, target: undefined, args: [operand], offset: first.offset });
    return this.since(first.offset, node);
  }

  private parseMember(): Node {
    const start = this.peek().offset;
    const isGroup = this.isSymbol('(');
    let node = this.since(start, this.parsePrimary());
    for (;;) {
      const token = this.peek();
      if (token.kind !== 'symbol') return node;
      if (token.text === '.') node = this.parseSelection(node);
      else if (token.text === '[') node = this.parseIndex(node);
      else if (token.text === '{') {
        const typeName = isGroup ? undefined : qualifiedName(node);
        if (typeName === undefined) return node;
        node = this.parseStruct(typeName);
      } else return node;
      this.since(start, node);
    }
  }

  private parseSelection(operand: Node): Node {
    const dot = this.next();
    const optional = this.accept('?') !== undefined;
    const token = this.next();
    const isName =
      token.kind === 'quoted-identifier' || (token.kind === 'identifier' && !keywords.has(token.text));
    if (!isName) {
      this.position--;
      throw this.unexpected('a field name');
    }
    const parenthesis = this.peek();
    if (token.kind === 'identifier' && !optional && this.isSymbol('(')) {
      const args = this.parseArguments();
      return this.makeCall(token.text, operand, args, parenthesis.offset);
    }
    return make({
      kind: 'select',
      operand,
      field: token.text,
      mode: optional ? 'optional' : 'value',
      offset: dot.offset,
    });
  }

  private parseIndex(operand: Node): Node {
    const bracket = this.next();
    const optional = this.accept('?') !== undefined;
    const index = this.parseExpression();
    this.expect(']');
    const name = optional ? '_[?_]' : '_[_]';
    return make({ kind: 'call', name, target: undefined, args: [operand, index], offset: bracket.offset });
  }

  private parseArguments(): readonly Node[] {
    this.expect('(');
    const args: Node[] = [];
    if (this.accept(')') !== undefined) return args;
    do args.push(this.parseExpression());
    while (this.accept(',') !== undefined);
    this.expect(')');
    return args;
  }

  private makeCall(name: string, target: Node | undefined, args: readonly Node[], offset: number): Node {
    const expanded = expandMacro({ name, target, args, offset }, this.macros);
    return expanded ?? make({ kind: 'call', name, target, args, offset });
  }

  private parsePrimary(): Node {
    const token = this.peek();
    if (token.kind === 'symbol') return this.parseBracketed(token);
    if (token.kind === 'identifier' && !keywords.has(token.text)) return this.parseName(undefined);
    if (token.kind === 'end' || token.kind === 'quoted-identifier') throw this.unexpected();
    if (token.kind === 'identifier' && token.text === 'in') throw this.unexpected();
    this.next();
    return this.literal(token, false, token.offset);
  }

  private parseBracketed(token: Token): Node {
    switch (token.text) {
      case '(': {
        this.next();
        const node = this.parseExpression();
        this.expect(')');
        return node;
      }
      case '[':
        return this.parseList();
      case '{':
        return this.parseMap();
      case '.':
        this.next();
        return this.parseName(token);
      case '-': {
        const number = this.tokens[this.position + 1];
        if (number?.kind !== 'int' && number?.kind !== 'double') throw this.unexpected();
        this.position += 2;
        return this.literal(number, true, token.offset);
      }
      default:
        throw this.unexpected();
    }
  }

  private parseName(dot: Token | undefined): Node {
    const token = this.next();
    if (token.kind !== 'identifier' || keywords.has(token.text)) {
      this.position--;
      throw this.unexpected('a name');
    }
    const name = dot === undefined ? token.text : `.${token.text}`;
    const offset = dot?.offset ?? token.offset;
    if (reservedNames.has(token.text)) {
      throw new CelSyntaxError(
        `reserved identifier: ${token.text}`,
        offset,
        token.text === 'if'
          ? 'CEL has no if: write condition ? value : otherwise.'
          : `'${token.text}' is reserved; it is allowed as a field name only.`,
      );
    }
    if (this.isSymbol('(')) {
      const parenthesis = this.peek();
      return this.makeCall(name, undefined, this.parseArguments(), parenthesis.offset);
    }
    return make<IdentNode>({ kind: 'ident', name, offset });
  }

  private literal(token: Token, negative: boolean, offset: number): Node {
    const node = (type: LiteralNode['type'], value: Value): Node =>
      make<LiteralNode>({ kind: 'literal', type, value, offset });
    const readers: Readonly<Partial<Record<TokenKind, () => Node>>> = {
      int: () => node('int', readInteger(token, negative)),
      uint: () => node('uint', readUint(token)),
      double: () => node('double', readDouble(token, negative)),
      string: () => node('string', readString(token)),
      bytes: () => node('bytes', readBytes(token)),
    };
    const reader = readers[token.kind];
    if (reader !== undefined) return reader();
    return token.text === 'null' ? node('null_type', null) : node('bool', token.text === 'true');
  }

  private parseList(): Node {
    const bracket = this.next();
    const elements: { value: Node; optional: boolean }[] = [];
    if (this.acceptsOnlyComma(']')) this.next();
    while (!this.isSymbol(']')) {
      const optional = this.accept('?') !== undefined;
      elements.push({ value: this.parseExpression(), optional });
      if (this.accept(',') === undefined) break;
    }
    this.expect(']');
    return make({ kind: 'list', elements, offset: bracket.offset });
  }

  /** The grammar allows a comma before the end, even in an empty list: `[,]`. */
  private acceptsOnlyComma(end: string): boolean {
    const following = this.tokens[this.position + 1];
    return this.isSymbol(',') && following?.kind === 'symbol' && following.text === end;
  }

  private parseMap(): Node {
    const brace = this.next();
    const entries: { key: Node; value: Node; optional: boolean }[] = [];
    if (this.acceptsOnlyComma('}')) this.next();
    while (!this.isSymbol('}')) {
      const optional = this.accept('?') !== undefined;
      const key = this.parseExpression();
      this.expect(':');
      entries.push({ key, value: this.parseExpression(), optional });
      if (this.accept(',') === undefined) break;
    }
    this.expect('}');
    return make({ kind: 'map', entries, offset: brace.offset });
  }

  private parseStruct(typeName: string): Node {
    const brace = this.next();
    const fields: { name: string; value: Node; optional: boolean; offset: number }[] = [];
    if (this.acceptsOnlyComma('}')) this.next();
    while (!this.isSymbol('}')) {
      const optional = this.accept('?') !== undefined;
      const token = this.next();
      if ((token.kind !== 'identifier' || keywords.has(token.text)) && token.kind !== 'quoted-identifier') {
        this.position--;
        throw this.unexpected('a field name');
      }
      const { offset } = this.expect(':');
      fields.push({ name: token.text, value: this.parseExpression(), optional, offset });
      if (this.accept(',') === undefined) break;
    }
    this.expect('}');
    return make({ kind: 'struct', typeName, fields, offset: brace.offset });
  }
}
