import type { ComparisonOperator, Node, PathStep } from './ast.ts';
import { type Token, TokenStream, tokenize, type VariableRange } from './lexer.ts';
import { ExpressionSyntaxError } from './syntax-error.ts';

/**
 * Parses an expression with the grammar and binding powers of the Go implementation that Kyverno uses.
 * `variables` are nested `{{ }}` in quotes. They become part of literals and keys, never syntax.
 */
export function parseExpression(text: string, variables: readonly VariableRange[] = []): Node {
  const parser = new Parser(new TokenStream(tokenize(text, variables)));
  return parser.whole();
}

/** Far more than any policy needs. Keeps parsing, compiling and evaluating within the stack. */
const MAX_DEPTH = 250;

const current: Node = { type: 'path', head: undefined, steps: [], depth: 1 };

class Parser {
  readonly #tokens: TokenStream;
  #nesting = 0;

  constructor(tokens: TokenStream) {
    this.#tokens = tokens;
  }

  whole(): Node {
    const node = this.#expression(0);
    if (this.#tokens.next().type !== 'end') this.#tokens.unexpected(this.#tokens.next());
    return node;
  }

  #tooDeep(): never {
    throw new ExpressionSyntaxError(`nested more than ${MAX_DEPTH} levels deep`, this.#tokens.next().start);
  }

  #above(children: readonly Node[]): number {
    let depth = 0;
    for (const child of children) if (child.depth > depth) depth = child.depth;
    return depth < MAX_DEPTH ? depth + 1 : this.#tooDeep();
  }

  #expression(power: number): Node {
    if (++this.#nesting > MAX_DEPTH) this.#tooDeep();
    let node = this.#prefix(this.#tokens.take());
    while (power < (bindingPower[this.#tokens.next().type] ?? 0))
      node = this.#infix(this.#tokens.take(), node);
    this.#nesting--;
    return node;
  }

  #prefix(token: Token): Node {
    switch (token.type) {
      case 'literal':
        return { type: 'literal', value: token.value, depth: 1 };
      case 'bound-literal':
        return { type: 'bound-json', json: token.json, depth: 1 };
      case 'raw':
        if (typeof token.text === 'string') return { type: 'literal', value: token.text, depth: 1 };
        return { type: 'bound-text', text: token.text, depth: 1 };
      case 'identifier':
        if (this.#tokens.next().type === '(') return this.#call(token.name, token.start);
        return { type: 'path', head: undefined, steps: [token.name], depth: 1 };
      case 'quoted':
        if (this.#tokens.next().type === '(')
          this.#tokens.unexpected(token, 'a function name without quotes');
        return { type: 'path', head: undefined, steps: [token.text], depth: 1 };
      case '@':
        return current;
      case '*':
        return this.#project(
          'value-projection',
          current,
          this.#tokens.next().type === ']' ? current : this.#projected(STAR),
        );
      case '[?':
        return this.#filter(current);
      case '[]':
        return this.#flatten(current);
      case '{':
        return this.#hash();
      case '[':
        return this.#bracketPrefix();
      case '&':
        return this.#wrap('reference', this.#expression(0));
      case '!':
        return this.#wrap('not', this.#expression(NOT));
      case '(': {
        const node = this.#expression(0);
        this.#tokens.expect(')');
        return node;
      }
      default:
        return this.#tokens.unexpected(token);
    }
  }

  #infix(token: Token, left: Node): Node {
    switch (token.type) {
      case '.':
        if (this.#tokens.next().type !== '*') return this.#chain(left, this.#afterDot(DOT));
        this.#tokens.take();
        return this.#project('value-projection', left, this.#projected(DOT));
      case '|':
        return this.#sequence('pipe', left, this.#expression(1));
      case '||':
        return this.#sequence('or', left, this.#expression(2));
      case '&&':
        return this.#sequence('and', left, this.#expression(3));
      case '[?':
        return this.#filter(left);
      case '[]':
        return this.#flatten(left);
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.#compare(token.type, left, this.#expression(5));
      case '[':
        if (this.#tokens.next().type === 'number' || this.#tokens.next().type === ':')
          return this.#indexOrSlice(left);
        this.#tokens.expect('*');
        this.#tokens.expect(']');
        return this.#project('projection', left, this.#projected(STAR));
      default:
        return this.#tokens.unexpected(token);
    }
  }

  #bracketPrefix(): Node {
    const type = this.#tokens.next().type;
    if (type === 'number' || type === ':') return this.#indexOrSlice(current);
    if (type === '*' && this.#tokens.next(1).type === ']') {
      this.#tokens.take();
      this.#tokens.take();
      return this.#project('projection', current, this.#projected(STAR));
    }
    return this.#list();
  }

  #indexOrSlice(left: Node): Node {
    const token = this.#tokens.next();
    if (token.type === 'number' && this.#tokens.next(1).type !== ':') {
      this.#tokens.take();
      this.#tokens.expect(']');
      return this.#step(left, [token.value]);
    }
    const slice: Node = { type: 'slice', left, parts: this.#sliceParts(), depth: this.#above([left]) };
    return this.#project('projection', slice, this.#projected(STAR));
  }

  #sliceParts(): readonly (number | undefined)[] {
    const parts: (number | undefined)[] = [undefined, undefined, undefined];
    let part = 0;
    for (let token = this.#tokens.take(); token.type !== ']'; token = this.#tokens.take()) {
      if (token.type === ':' && part < 2) part++;
      else if (token.type === 'number' && parts[part] === undefined) parts[part] = token.value;
      else this.#tokens.unexpected(token, ']');
      if (part === 2 && parts[2] === 0)
        throw new ExpressionSyntaxError('the step of a slice cannot be 0', token.start);
    }
    return parts;
  }

  /** The right side of a dot: a key, a function call, or a multi-select. */
  #afterDot(power: number): Node {
    const token = this.#tokens.next();
    if (token.type === 'identifier' || token.type === 'quoted' || token.type === '*')
      return this.#expression(power);
    this.#tokens.take();
    if (token.type === '[') return this.#list();
    if (token.type === '{') return this.#hash();
    return this.#tokens.unexpected(token, 'a key, [ or {');
  }

  /** The right side of a projection, which is applied to every item. */
  #projected(power: number): Node {
    const token = this.#tokens.next();
    if ((bindingPower[token.type] ?? 0) < PROJECTION_END) return current;
    if (token.type === '[' || token.type === '[?') return this.#expression(power);
    if (token.type !== '.') return this.#tokens.unexpected(token);
    this.#tokens.take();
    return this.#afterDot(power);
  }

  #filter(left: Node): Node {
    const condition = this.#expression(0);
    this.#tokens.expect(']');
    const right = this.#projected(FILTER);
    return { type: 'filter', left, right, condition, depth: this.#above([left, right, condition]) };
  }

  #flatten(left: Node): Node {
    return this.#project('projection', this.#wrap('flatten', left), this.#projected(FLATTEN));
  }

  #list(): Node {
    const children = [this.#expression(0)];
    for (let token = this.#tokens.take(); token.type !== ']'; token = this.#tokens.take()) {
      if (token.type !== ',') this.#tokens.unexpected(token, ', or ]');
      children.push(this.#expression(0));
    }
    return { type: 'list', children, depth: this.#above(children) };
  }

  /** Commas between the entries, and between the arguments of a call, are optional, as in the Go implementation. */
  #hash(): Node {
    const entries: { key: PathStep & (string | object); value: Node }[] = [];
    let token = this.#tokens.take();
    do {
      if (token.type !== 'identifier' && token.type !== 'quoted') this.#tokens.unexpected(token, 'a key');
      this.#tokens.expect(':');
      entries.push({
        key: token.type === 'identifier' ? token.name : token.text,
        value: this.#expression(0),
      });
      token = this.#tokens.take();
      if (token.type === ',') {
        token = this.#tokens.take();
        if (token.type === '}') this.#tokens.unexpected(token, 'a key');
      }
    } while (token.type !== '}');
    return { type: 'hash', entries, depth: this.#above(entries.map((entry) => entry.value)) };
  }

  #call(name: string, position: number): Node {
    this.#tokens.take();
    const args: Node[] = [];
    while (this.#tokens.next().type !== ')') {
      args.push(this.#expression(0));
      if (this.#tokens.next().type === ',') this.#tokens.take();
    }
    this.#tokens.take();
    return { type: 'call', name, args, position, depth: this.#above(args) };
  }

  #wrap(type: 'not' | 'flatten' | 'reference', child: Node): Node {
    return { type, child, depth: this.#above([child]) };
  }

  #project(type: 'projection' | 'value-projection', left: Node, right: Node): Node {
    return { type, left, right, depth: this.#above([left, right]) };
  }

  #compare(operator: ComparisonOperator, left: Node, right: Node): Node {
    return { type: 'compare', operator, left, right, depth: this.#above([left, right]) };
  }

  #chain(left: Node, right: Node): Node {
    if (right.type === 'path' && right.head === undefined) return this.#step(left, right.steps);
    return { type: 'chain', left, right, depth: this.#above([left, right]) };
  }

  /** Extends a path in place: a long path adds no depth and takes linear time. */
  #step(left: Node, steps: readonly PathStep[]): Node {
    if (left.type !== 'path' || left === current) {
      const head = left === current ? undefined : left;
      return { type: 'path', head, steps: [...steps], depth: head ? this.#above([head]) : 1 };
    }
    const own = left.steps as PathStep[];
    for (const step of steps) own.push(step);
    return left;
  }

  #sequence(type: 'pipe' | 'or' | 'and', left: Node, right: Node): Node {
    if (left.type !== type) return { type, children: [left, right], depth: this.#above([left, right]) };
    (left.children as Node[]).push(right);
    return { ...left, depth: Math.max(left.depth, this.#above([right])) };
  }
}

/** How tightly a token binds to the expression on its left; 0 when it does not bind. */
const bindingPower: Readonly<Partial<Record<Token['type'], number>>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': 20,
  '[?': 21,
  '.': 40,
  '!': 45,
  '{': 50,
  '[': 55,
  '(': 60,
};
const STAR = 20;
const FILTER = 21;
const DOT = 40;
const NOT = 45;
const FLATTEN = 9;
/** A token that binds more weakly ends a projection. */
const PROJECTION_END = 10;
