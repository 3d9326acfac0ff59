import { type StructuredSchema, scalarSchemas } from '../../../patch/structured/schema.ts';
import { asDyn, equalTo, precedence, primary, ternary, text, within } from '../cel-text.ts';
import { classOf, definite, isIndexed, lenient, optionalTerm, type Term, type ValueClass } from '../term.ts';
import { freshName, isTotal } from '../translation.ts';
import { type Arguments, call, stringList, type Translate } from './arguments.ts';

/** Functions of lists, maps and values of any type. */
export const collectionFunctions: Readonly<Record<string, Translate>> = {
  contains: (args) => {
    const subject = args.of(0, 'list', 'string');
    const wanted = args.term(1);
    if (classOf(subject) === 'list') {
      const value = lenient(wanted);
      const items = subject.schema?.kind === 'list' ? subject.schema.items : undefined;
      const isSame = items !== undefined && classOf({ ...text('', 'dyn'), schema: items }) === classOf(value);
      const item = subject.type === 'dyn' || isSame ? value : asDyn(value);
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
};

/** The first argument that is not null. */
function notNull(args: Arguments): Term {
  const terms = Array.from({ length: args.length }, (_item, index) => args.term(index));
  if (!terms.slice(1).every((term) => term.optional !== undefined || isTotal(term))) {
    args.refuse('an argument of not_null() may fail, which CEL ignores if it is not used');
  }
  return terms.reduceRight((right, left) => {
    const kind = classOf(left);
    const other = lenient(right);
    if (left.optional === undefined && kind !== 'unknown') return kind === 'null' ? other : left;
    const isDynamic = left.type === 'dyn' || classOf(other) === kind;
    const isTyped = left.schema !== undefined && left.schema.kind !== 'any' && isDynamic;
    const schema = classOf(other) === kind ? left.schema : undefined;
    if (left.optional !== undefined && isTyped) {
      return definite(text(`${left.optional}.orValue(${other.source})`, left.type), {
        schema,
        total: isTotal(other),
        uncertain: left.type === 'dyn' && isIndexed(left.optional),
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
  const fields = new Map<string, StructuredSchema>([[key, scalarSchemas.string]]);
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
