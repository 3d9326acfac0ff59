import type { Node } from '../../expression/jmespath/ast.ts';
import { precedence, text, within } from './cel-text.ts';
import {
  classOf,
  definite,
  onlyType,
  optionalTerm,
  orDefault,
  presentValue,
  type Term,
  truthy,
} from './term.ts';
import { freshName, refuse, type Translation } from './translation.ts';

/** Projections, filters, flattening and slices. Of what is no list, the result is null. */
export function translateList(node: Node, translation: Translation): Term {
  switch (node.type) {
    case 'projection':
      return overList(node.left, translation, (list, items) =>
        project(list, items, node.right, translation, itemName(node.left)),
      );
    case 'filter':
      return overList(node.left, translation, (list, items) => {
        const name = itemName(node.left);
        const [variable, names] = freshName(name, translation);
        const item = itemTerm(variable, items);
        const condition = truthy(
          translation.translate(node.condition, { ...translation, names, current: item }),
        );
        if (condition.total !== true) refuse(translation, 'the condition of a filter may fail');
        const kept = {
          ...list,
          source: `${within(list, precedence.primary)}.filter(${variable}, ${condition.source})`,
        };
        return project(
          { ...text(kept.source, 'list'), total: list.total },
          items,
          node.right,
          translation,
          name,
        );
      });
    case 'flatten':
      return spreadTerm(node.child, translation) ?? overList(node.child, translation, flatten);
    case 'slice':
      return overList(node.left, translation, (list) => slice(list, node.parts, translation));
    case 'value-projection':
      return overValues(node.left, node.right, translation);
    default:
      return refuse(translation, 'the expression has no form in CEL');
  }
}

type Items = Term['schema'];

/** Applies `build` to the list. A missing list gives null. */
function overList(leftNode: Node, translation: Translation, build: (list: Term, items: Items) => Term): Term {
  const value = translation.translate(leftNode, translation);
  const left = classOf(value) === 'unknown' && value.orEmpty === undefined ? listTerm(value) : value;
  const kind = classOf(value);
  if (kind !== 'list' && kind !== 'unknown') return definite(text('null', 'null'), { constant: null });
  const items = left.schema?.kind === 'list' ? left.schema.items : undefined;
  const schema = {
    kind: 'list',
    merge: 'atomic',
    keys: [],
    items: items ?? { kind: 'any', atomic: false },
  } as const;
  if (left.optional === undefined) {
    if (left.total !== true && left.bound !== true)
      refuse(translation, 'the list of a projection may fail, which gives null in JMESPath');
    if (kind === 'unknown')
      refuse(translation, 'it is not known whether the value before a projection is a list');
    return build(left, items);
  }
  const direct = build({ ...text(left.orEmpty ?? orDefault(left, '[]').source, 'dyn'), total: true }, items);
  if (direct.source === (left.orEmpty ?? orDefault(left, '[]').source)) {
    const plain =
      left.direct ?? (left.missing === 'error' && left.guarded === undefined ? left.source : undefined);
    return optionalTerm(left.optional, '', 'null', {
      schema: direct.schema ?? schema,
      orEmpty: direct.source,
      direct: plain,
    });
  }
  const [name] = freshName('list', translation);
  const inner = build({ ...text(name, 'dyn'), total: true }, items);
  return optionalTerm(`${left.optional}.optMap(${name}, dyn(${inner.source}))`, '', 'null', {
    schema: direct.schema ?? schema,
    orEmpty: direct.source,
  });
}

/** The value if it is a list, otherwise null. */
function listTerm(value: Term): Term {
  if (value.optional === undefined) return value;
  return optionalTerm(onlyType(value.optional, 'list'), '', 'null', { schema: value.schema });
}

function itemTerm(name: string, schema: Items): Term {
  return definite(text(name, 'dyn'), { schema });
}

/** The results of `right` for each item; null and missing are dropped. */
function project(list: Term, items: Items, right: Node, translation: Translation, hint = 'item'): Term {
  const [name, names] = freshName(hint, translation);
  const result = translation.translate(right, { ...translation, names, current: itemTerm(name, items) });
  const receiver = within(list, precedence.primary);
  const schema = listOf(result.schema ?? schemaOfType(result));
  if (result.source === name) {
    if (items !== undefined && items.kind !== 'any') return definite(list, { schema, total: list.total });
    return definite(text(`${receiver}.filter(${name}, ${name} != null)`, 'list'), {
      schema,
      total: list.total,
    });
  }
  if (result.optional === undefined) {
    if (result.total !== true) refuse(translation, 'a projection calls a function that may fail');
    const isValue = classOf(result) !== 'unknown' && classOf(result) !== 'null';
    if (!isValue) refuse(translation, 'it is not known whether the results of a projection are null');
    return definite(text(`${receiver}.map(${name}, ${result.source})`, 'list'), {
      schema,
      total: list.total,
    });
  }
  // A path may end in null where its type is not known.
  const isTyped = result.schema !== undefined && result.schema.kind !== 'any';
  const simple = simpleSelection(result, name);
  if (simple !== undefined && isTyped) {
    return definite(text(`${receiver}.map(${name}, has(${simple}), ${simple})`, 'list'), {
      schema,
      total: list.total,
    });
  }
  const present = isTyped ? `${result.optional}.hasValue()` : `${result.optional}.orValue(null) != null`;
  return definite(text(`${receiver}.map(${name}, ${present}, ${presentValue(result.optional)})`, 'list'), {
    schema,
    total: list.total,
  });
}

/** `item.name`, which `has()` can test. */
function simpleSelection({ source }: Term, name: string): string | undefined {
  return new RegExp(`^${name}\\.[A-Za-z_][A-Za-z0-9_]*$`).test(source) ? source : undefined;
}

function schemaOfType(term: Term): NonNullable<Items> {
  switch (classOf(term)) {
    case 'string':
      return { kind: 'scalar', scalar: 'string' };
    case 'number':
      return { kind: 'scalar', scalar: 'number' };
    case 'boolean':
      return { kind: 'scalar', scalar: 'boolean' };
    default:
      return { kind: 'any', atomic: false };
  }
}

function listOf(items: NonNullable<Items>): NonNullable<Items> {
  return { kind: 'list', merge: 'atomic', keys: [], items };
}

/** A multiselect of lists: the projection that follows drops those that are missing. */
function spreadTerm(child: Node, translation: Translation): Term | undefined {
  const { spread } = translation.translate(child, translation);
  if (spread === undefined) return undefined;
  const schema = listOf(spread.items);
  if (spread.optional === undefined) return definite(text(spread.source, 'list'), { schema });
  return optionalTerm(spread.optional, '', 'null', { schema, orEmpty: spread.source });
}

/** One level of nested lists. */
function flatten(list: Term, items: Items): Term {
  if (items !== undefined && items.kind !== 'any' && items.kind !== 'list')
    return definite(list, { schema: listOf(items), total: list.total });
  const inner = items?.kind === 'list' ? items.items : { kind: 'any' as const, atomic: false };
  return definite(text(`${within(list, precedence.primary)}.flatten()`, 'list'), {
    schema: listOf(inner),
    total: list.total,
  });
}

function slice(
  list: Term,
  [start, stop, step = 1]: readonly (number | undefined)[],
  translation: Translation,
): Term {
  if (step !== 1 || (start ?? 0) < 0 || (stop ?? 0) < 0) {
    return refuse(translation, 'CEL has no slices with steps or from the end of a list');
  }
  const receiver = within(list, precedence.primary);
  const size = `size(${list.source})`;
  const least = (bound: number): string => `(${size} < ${bound} ? ${size} : ${bound})`;
  const from = start === undefined || start === 0 ? '0' : least(start);
  const to = stop === undefined ? size : least(Math.max(stop, start ?? 0));
  return definite(text(`${receiver}.slice(${from}, ${to})`, 'list'), { total: list.total });
}

/** `left.*.right`: the values of a map. */
function overValues(leftNode: Node, right: Node, translation: Translation): Term {
  const left = translation.translate(leftNode, translation);
  const kind = classOf(left);
  if (kind !== 'map' || left.schema?.kind !== 'map') {
    return refuse(translation, 'it is not known whether the value before `.*` is a map');
  }
  const items = left.schema.fieldNames.length === 0 ? left.schema.field('') : undefined;
  const values = (source: string): Term => ({
    ...text(`${source}.transformList(key, value, value)`, 'list'),
    total: true,
  });
  if (left.optional === undefined) return project(values(left.source), items, right, translation);
  const [name] = freshName('map', translation);
  const direct = project(values(orDefault(left, '{}').source), items, right, translation);
  const inner = project(values(name), items, right, translation);
  return optionalTerm(`${left.optional}.optMap(${name}, dyn(${inner.source}))`, '', 'null', {
    schema: direct.schema,
    orEmpty: direct.source,
  });
}

/** `container` for `containers`, so that macros read well. */
export function itemName(node: Node): string {
  let current = node;
  for (;;) {
    if (current.type === 'flatten') current = current.child;
    else if (current.type === 'projection' || current.type === 'filter') current = current.left;
    else break;
  }
  const last = current.type === 'path' ? current.steps.at(-1) : undefined;
  if (typeof last !== 'string' || !/^[A-Za-z][A-Za-z0-9]*s$/.test(last)) return 'item';
  const name = last.replace(/ies$/, 'y').replace(/s$/, '');
  return reserved.has(name) || name.length < 2 ? 'item' : name;
}

const reserved = new Set([
  'as',
  'cla',
  'variable',
  'request',
  'object',
  'param',
  'namespace',
  'image',
  'resource',
]);
