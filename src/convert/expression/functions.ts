import { functionTable } from '../../expression/functions/table.ts';
import type { Node } from '../../expression/jmespath/ast.ts';
import { type StructuredSchema, scalarSchemas } from '../../patch/structured/schema.ts';
import type { CelText, CelType } from '../types.ts';
import { asDyn, equalTo, precedence, primary, ternary, text, within } from './cel-text.ts';
import { regexReplacement } from './regex.ts';
import {
  classOf,
  definite,
  lenient,
  optionalTerm,
  presentValue,
  type Term,
  type ValueClass,
} from './term.ts';
import { freshName, isTotal, printed, refuse, type Translation } from './translation.ts';
import { wildcardTest } from './wildcard.ts';

type CallNode = Extract<Node, { type: 'call' }>;

/** The arguments of one call. */
class Arguments {
  readonly #node: CallNode;
  readonly #translation: Translation;
  readonly #terms = new Map<number, Term>();

  constructor(node: CallNode, translation: Translation) {
    this.#node = node;
    this.#translation = translation;
  }

  get length(): number {
    return this.#node.args.length;
  }

  get translation(): Translation {
    return this.#translation;
  }

  term(index: number): Term {
    const known = this.#terms.get(index);
    if (known !== undefined) return known;
    const term = this.#translation.translate(this.#node.args[index] as Node, this.#translation);
    this.#terms.set(index, term);
    return term;
  }

  /** The argument must be of a class; a value of another class, null and a missing key are an error in both languages. */
  of(index: number, ...kinds: readonly ValueClass[]): Term {
    const term = this.term(index);
    const kind = classOf(term);
    // A field that is read as a map or a list is one; of other values it is not known.
    const isField = term.optional !== undefined && term.mixed !== true;
    const isPolymorphic = kinds.includes('map') || kinds.includes('list') || polymorphic.has(this.#node.name);
    if (kind === 'unknown' && !isField && isPolymorphic) {
      this.refuse(`the type of argument ${index + 1} of ${this.#node.name}() is not known`);
    }
    if (kind !== 'unknown' && !kinds.includes(kind)) {
      this.refuse(`argument ${index + 1} of ${this.#node.name}() has the wrong type`);
    }
    const isKnown = kind !== 'unknown' && term.optional === undefined;
    const isNull = term.optional !== undefined && term.missing === 'null';
    const source = term.direct ?? (isNull ? presentValue(term.optional ?? '') : term.source);
    const level = term.direct === undefined && !isNull ? term.precedence : precedence.primary;
    return { ...term, source, precedence: level, optional: undefined, total: isKnown && term.total === true };
  }

  constantText(index: number): string | undefined {
    const { constant } = this.term(index);
    return typeof constant === 'string' ? constant : undefined;
  }

  /** An `&expression`, applied to an item. */
  apply(index: number, item: Term, names: readonly string[]): Term {
    const node = this.#node.args[index] as Node;
    const child = node.type === 'reference' ? node.child : node;
    return this.#translation.translate(child, { ...this.#translation, names, current: item });
  }

  refuse(reason: string): never {
    return refuse(this.#translation, reason);
  }
}

/** Functions of strings whose form in CEL also takes other values. */
const polymorphic = new Set(['truncate', 'trim_prefix']);

type Translate = (args: Arguments) => Term;

/** Translates a call of a function. The functions of Kyverno that have no exact counterpart are refused. */
export function translateCall(node: CallNode, translation: Translation): Term {
  const definition = functionTable.get(node.name);
  if (definition === undefined) return refuse(translation, `the function ${node.name}() does not exist`);
  const translate = Object.hasOwn(functions, node.name) ? functions[node.name] : undefined;
  if (translate === undefined) return refuse(translation, `CEL has no function like ${node.name}()`);
  return translate(new Arguments(node, translation));
}

const string = scalarSchemas.string;
const stringList: StructuredSchema = { kind: 'list', merge: 'atomic', keys: [], items: string };

function call(source: string, type: CelType, parts: readonly CelText[], schema?: StructuredSchema): Term {
  return definite(text(source, type), { total: parts.every(isTotal), schema });
}

/** `receiver.name(argument …)` over strings. */
function method(name: string, type: CelType, schema?: StructuredSchema): Translate {
  return (args) => {
    const [receiver, ...rest] = Array.from({ length: args.length }, (_item, index) =>
      args.of(index, 'string'),
    );
    if (receiver === undefined) return args.refuse('a function has no argument');
    return call(
      `${primary(receiver)}.${name}(${rest.map(({ source }) => source).join(', ')})`,
      type,
      [receiver, ...rest],
      schema,
    );
  };
}

function caseChange(name: 'upperAscii' | 'lowerAscii'): Translate {
  return (args) => {
    const value = args.of(0, 'string');
    if (args.term(0).ascii !== true && !isAscii(args.constantText(0))) {
      args.refuse('CEL changes the case of ASCII letters only, and the string may contain others');
    }
    return call(`${primary(value)}.${name}()`, 'string', [value]);
  };
}

function isAscii(value: string | undefined): boolean {
  return value !== undefined && [...value].every((character) => character <= '\x7f');
}

const onlyMutatingPolicy = (args: Arguments, name: string): void => {
  if (args.translation.scope.target === 'map') args.refuse(`Kubernetes has no function like ${name}()`);
};

const functions: Readonly<Record<string, Translate>> = {
  starts_with: method('startsWith', 'bool'),
  ends_with: method('endsWith', 'bool'),
  split: method('split', 'list', stringList),
  replace_all: method('replace', 'string'),
  to_upper: caseChange('upperAscii'),
  to_lower: caseChange('lowerAscii'),
  replace: (args) => {
    const [value, from, to] = [args.of(0, 'string'), args.of(1, 'string'), args.of(2, 'string')];
    const count = args.term(3);
    if (typeof count.constant !== 'number' || !Number.isInteger(count.constant)) {
      return args.refuse('the number of replacements is not a constant');
    }
    return call(`${primary(value)}.replace(${from.source}, ${to.source}, ${count.source})`, 'string', [
      value,
      from,
      to,
    ]);
  },
  trim_prefix: (args) => {
    const [value, prefix] = [args.of(0, 'string'), args.of(1, 'string')];
    const start = text(`${primary(value)}.startsWith(${prefix.source})`, 'bool');
    const rest = text(`${primary(value)}.substring(size(${prefix.source}))`, 'string');
    return definite(
      {
        ...ternary(start, rest, { ...value, type: 'string' }),
        total: isTotal(value) && isTotal(prefix),
      },
      { uncertain: true },
    );
  },
  truncate: (args) => {
    const value = args.of(0, 'string');
    const length = args.term(1).constant;
    if (typeof length !== 'number') return args.refuse('the length is not a constant');
    const most = Math.max(Math.trunc(length), 0);
    const short = text(`size(${value.source}) <= ${most}`, 'bool', precedence.relation);
    const cut = text(`${primary(value)}.substring(0, ${most})`, 'string');
    return definite(
      { ...ternary(short, { ...value, type: 'string' }, cut), total: isTotal(value) },
      { uncertain: true },
    );
  },
  join: (args) => {
    const [separator, list] = [args.of(0, 'string'), asDyn(args.of(1, 'list'))];
    return call(`${primary(list)}.join(${separator.source})`, 'string', [
      separator,
      { ...list, total: false },
    ]);
  },
  contains: (args) => {
    const subject = args.of(0, 'list', 'string');
    const wanted = args.term(1);
    if (classOf(subject) === 'list') {
      const item = lenient(wanted);
      const source = `${within(item, precedence.sum)} in ${primary(subject)}`;
      return definite(text(source, 'bool', precedence.relation), {
        total: isTotal(subject) && isTotal(item),
      });
    }
    if (classOf(subject) !== 'string')
      return args.refuse('it is not known whether contains() reads a list or a string');
    if (classOf(wanted) !== 'string' || wanted.optional !== undefined) {
      return args.refuse('the second argument of contains() may be no string');
    }
    return call(`${primary(subject)}.contains(${wanted.source})`, 'bool', [subject, wanted]);
  },
  length: (args) => {
    const value = args.of(0, 'list', 'map', 'string');
    return call(`size(${value.source})`, 'int', [value]);
  },
  keys: (args) => {
    const map = args.of(0, 'map');
    const [name] = freshName('key', args.translation);
    return { ...call(`${primary(map)}.map(${name}, ${name})`, 'list', [map], stringList), keysOf: map };
  },
  values: (args) => {
    const map = args.of(0, 'map');
    const items =
      map.schema?.kind === 'map' && map.schema.fieldNames.length === 0 ? map.schema.field('') : undefined;
    const schema: StructuredSchema = {
      kind: 'list',
      merge: 'atomic',
      keys: [],
      items: items ?? { kind: 'any', atomic: false },
    };
    return call(`${primary(map)}.transformList(key, value, value)`, 'list', [map], schema);
  },
  not_null: (args) => notNull(args),
  to_array: (args) => {
    const value = args.term(0);
    const kind = classOf(value);
    if (kind === 'unknown' || value.optional !== undefined)
      return args.refuse('it is not known whether the argument of to_array() is a list');
    return kind === 'list' ? value : call(`[${value.source}]`, 'list', [value]);
  },
  to_string: (args) => {
    const value = args.term(0);
    return printed(value.optional === undefined ? value : lenient(value), args.translation);
  },
  type: (args) => {
    const names: Readonly<Record<ValueClass, string | undefined>> = {
      string: 'string',
      number: 'number',
      boolean: 'boolean',
      list: 'array',
      map: 'object',
      null: 'null',
      unknown: undefined,
    };
    const value = args.term(0);
    const name = value.optional === undefined && isTotal(value) ? names[classOf(value)] : undefined;
    if (name === undefined) return args.refuse('the type of the argument of type() is not known');
    return definite(text(`'${name}'`, 'string'), { constant: name });
  },
  lookup: (args) => {
    const map = args.of(0, 'map', 'list');
    const key = args.of(1, 'string', 'number');
    const kinds = [classOf(map), classOf(key)];
    if (kinds.includes('unknown') || (kinds[0] === 'map') !== (kinds[1] === 'string')) {
      return args.refuse('the types of the arguments of lookup() are not known');
    }
    const schema = map.schema?.kind === 'list' ? map.schema.items : undefined;
    const optional = `${primary(map)}[?${key.source}]`;
    if (isTotal(map) && isTotal(key)) return optionalTerm(optional, '', 'null', { schema });
    return definite(text(`dyn(${optional}.orValue(null))`, 'dyn'), { total: false });
  },
  merge: (args) => merge(args),
  items: (args) => items(args),
  object_from_lists: (args) => objectFromLists(args),
  label_match: (args) => {
    const [wanted, labels] = [args.of(0, 'map'), args.of(1, 'map')];
    const source = `${primary(wanted)}.all(key, ${primary(labels)}[?key] == optional.of(${primary(wanted)}[key]))`;
    return call(source, 'bool', [wanted, labels]);
  },
  reverse: (args) => {
    const list = args.of(0, 'list', 'string');
    if (classOf(list) !== 'list') return args.refuse('CEL reverses lists only');
    return call(`${primary(list)}.reverse()`, 'list', [list], list.schema);
  },
  sort: (args) => {
    const list = args.of(0, 'list');
    if (
      list.schema?.kind !== 'list' ||
      list.schema.items.kind !== 'scalar' ||
      list.schema.items.scalar === 'untyped'
    ) {
      return args.refuse('the type of the items that sort() orders is not known');
    }
    return call(`${primary(list)}.sort()`, 'list', [list], list.schema);
  },
  map: (args) => {
    const list = args.of(1, 'list');
    const [name, names] = freshName('item', args.translation);
    const schema = list.schema?.kind === 'list' ? list.schema.items : undefined;
    const body = lenient(args.apply(0, definite(text(name, 'dyn'), { schema }), names));
    return call(`${primary(list)}.map(${name}, ${body.source})`, 'list', [list, body]);
  },
  regex_match: (args) => {
    const pattern = args.constantText(0);
    const value = args.of(1, 'string');
    if (pattern === undefined) return args.refuse('the regular expression is not a constant');
    if (classOf(value) !== 'string')
      return args.refuse('regex_match() also takes numbers, and the type of the value is not known');
    return call(`${primary(value)}.matches(${args.term(0).source})`, 'bool', [value]);
  },
  pattern_match: (args) => {
    const pattern = args.constantText(0);
    const value = args.of(1, 'string');
    if (pattern === undefined) return args.refuse('the pattern is not a constant');
    if (classOf(value) !== 'string')
      return args.refuse('pattern_match() also takes numbers, and the type of the value is not known');
    return definite(wildcardTest(value, pattern), { total: value.total });
  },
  regex_replace_all: (args) => replaceExpression(args, false),
  regex_replace_all_literal: (args) => replaceExpression(args, true),
  base64_decode: (args) => {
    onlyMutatingPolicy(args, 'base64_decode');
    const value = args.of(0, 'string');
    return call(`string(base64.decode(${value.source}))`, 'string', [{ ...value, total: false }]);
  },
  base64_encode: (args) => {
    onlyMutatingPolicy(args, 'base64_encode');
    const value = args.of(0, 'string');
    return call(`base64.encode(bytes(${value.source}))`, 'string', [value]);
  },
  sha256: hash('sha256'),
  sha1: hash('sha1'),
  md5: hash('md5'),
  x509_decode: (args) => {
    onlyMutatingPolicy(args, 'x509_decode');
    const value = args.of(0, 'string');
    return call(`x509.decode(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
  random: (args) => {
    onlyMutatingPolicy(args, 'random');
    const value = args.of(0, 'string');
    return call(`random(${value.source})`, 'string', [{ ...value, total: false }]);
  },
  parse_yaml: (args) => {
    onlyMutatingPolicy(args, 'parse_yaml');
    const value = args.of(0, 'string');
    return call(`yaml.parse(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
  parse_json: (args) => {
    onlyMutatingPolicy(args, 'parse_json');
    const value = args.of(0, 'string');
    return call(`json.unmarshal(${value.source})`, 'dyn', [{ ...value, total: false }]);
  },
};

function hash(name: string): Translate {
  return (args) => {
    onlyMutatingPolicy(args, name);
    const value = args.of(0, 'string');
    return call(`${name}(${value.source})`, 'string', [value]);
  };
}

/** The first argument that is not null. */
function notNull(args: Arguments): Term {
  const terms = Array.from({ length: args.length }, (_item, index) => args.term(index));
  if (!terms.slice(1).every((term) => term.optional !== undefined || isTotal(term))) {
    args.refuse('an argument of not_null() may fail, which CEL ignores if it is not used');
  }
  return terms.reduceRight((right, left) => {
    const kind = classOf(left);
    if (left.optional === undefined && kind !== 'unknown') return kind === 'null' ? right : left;
    const other = lenient(right);
    const isTyped = left.schema !== undefined && left.schema.kind !== 'any';
    const schema = classOf(other) === kind ? left.schema : undefined;
    if (left.optional !== undefined && isTyped) {
      return definite(text(`${left.optional}.orValue(${other.source})`, 'dyn'), {
        schema,
        total: isTotal(other),
      });
    }
    const value = lenient(left);
    return definite(ternary(equalTo(value, text('null', 'null')), other, value), {
      total: isTotal(value) && isTotal(other),
    });
  });
}

/** All members of all maps; the last one wins. */
function merge(args: Arguments): Term {
  const maps = Array.from({ length: args.length }, (_item, index) => args.of(index, 'map'));
  const [first, ...rest] = maps;
  if (first === undefined) return args.refuse('merge() has no argument');
  return rest.reduce((left, right) => {
    // A map that exists only as a list of entries cannot have two of one key.
    const kept = `${primary(left)}.transformList(k, v, !(k in ${primary(right)}), {k: dyn(v)})`;
    const added = `${primary(right)}.transformList(k, v, {k: dyn(v)})`;
    return call(`(${kept} + ${added}).transformMapEntry(i, entry, entry)`, 'map', [left, right]);
  }, first);
}

/** `[{key, value}]`, sorted by key. */
function items(args: Arguments): Term {
  const map = args.of(0, 'map', 'list');
  const [key, value] = [args.constantText(1), args.constantText(2)];
  if (key === undefined || value === undefined || key === value)
    return args.refuse('the names of key and value are not constants');
  if (classOf(map) !== 'map') return args.refuse('it is not known whether items() reads a map');
  const member = map.schema?.kind === 'map' ? map.schema.field('') : undefined;
  const fields = new Map<string, StructuredSchema>([[key, string]]);
  if (member !== undefined) fields.set(value, member);
  const schema: StructuredSchema = {
    kind: 'list',
    merge: 'atomic',
    keys: [],
    items: {
      kind: 'map',
      atomic: true,
      field: (name) => fields.get(name),
      declares: (name) => fields.has(name),
      fieldNames: [key, value],
      defaults: {},
    },
  };
  const entry = `{${args.term(1).source}: dyn(k), ${args.term(2).source}: dyn(${primary(map)}[k])}`;
  return call(`${primary(map)}.map(k, k).sort().map(k, ${entry})`, 'list', [map], schema);
}

function objectFromLists(args: Arguments): Term {
  const [keys, values] = [args.of(0, 'list'), args.of(1, 'list')];
  if (
    keys.schema?.kind !== 'list' ||
    keys.schema.items.kind !== 'scalar' ||
    keys.schema.items.scalar !== 'string'
  ) {
    return args.refuse('the keys of object_from_lists() may be no strings');
  }
  const source = `${primary(keys)}.transformMapEntry(i, k, {k: ${primary(values)}[?i].orValue(null)})`;
  // A key that occurs twice is an error in CEL.
  return call(source, 'map', [{ ...keys, total: false }, values]);
}

function replaceExpression(args: Arguments, isLiteral: boolean): Term {
  const name = isLiteral ? 'regex_replace_all_literal' : 'regex_replace_all';
  onlyMutatingPolicy(args, name);
  const pattern = args.constantText(0);
  const replacement = args.constantText(2);
  if (pattern === undefined || replacement === undefined)
    return args.refuse(`the regular expression and the replacement of ${name}() must be constants`);
  const value = args.of(1, 'string');
  if (classOf(value) !== 'string')
    return args.refuse(`${name}() also takes numbers, and the type of the value is not known`);
  const written =
    regexReplacement(pattern, replacement, isLiteral) ??
    args.refuse(`the replacement of ${name}() has no form in CEL`);
  return call(`regex.replace(${value.source}, ${args.term(0).source}, ${written})`, 'string', [value]);
}
