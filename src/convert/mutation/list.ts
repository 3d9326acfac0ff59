import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonArray, type JsonObject } from '../../json/value.ts';
import { allOf, anyOf, not, precedence, text } from '../expression/cel-text.ts';
import { type CelText, NotConvertible } from '../types.ts';
import { add, createParent, remove, type Step, when } from './operations.ts';
import { hasAnchor, hasConditions, listDirective, readOverlayMap } from './overlay.ts';
import { itemName } from './pattern.ts';
import { fieldOf, isMissing, itemOf, listAt, type Place, pointerText } from './place.ts';
import type { Target, Work } from './target.ts';
import { definiteText, freshText } from './value.ts';

/** The steps that merge a list. */
export function listSteps(list: JsonArray, target: Target, work: Work): readonly Step[] {
  const { place, merge, path } = target;
  const directive = list.map(listDirective).find((word) => word !== undefined);
  const items = list.filter((item) => listDirective(item) === undefined);
  const pointer = pointerText(place.pointer);
  if (directive === 'delete') return [when(place.present, [remove(pointer)])];
  const keys = directive === 'replace' ? undefined : merge?.mergeKeys;
  const isAnchored = hasAnchor(items, ['condition', 'global', 'add']);
  const writing = { scope: work.scope, schema: target.declared, path };
  if (keys === undefined && !isAnchored) return [add(pointer, freshText(items, writing).source)];
  if (keys?.length === 0 && !isAnchored) return [setStep(items, target, work)];
  if (items.length === 0) return [when(isMissing(place), [add(pointer, '[]')])];
  return new ListMerge(target, keys, work).run(items);
}

/** A set of scalars: new values are put in front. */
function setStep(items: JsonArray, { place, path, declared }: Target, work: Work): Step {
  const values = freshText(items, { scope: work.scope, schema: declared, path }).source;
  const merged = `${values}.filter(value, !(value in ${place.read})) + ${place.read}`;
  return add(pointerText(place.pointer), `${isMissing(place)} ? ${values} : ${merged}`);
}

const containerLists = new Set(['containers', 'initContainers', 'ephemeralContainers']);
const indexes = ['i', 'j', 'k', 'l'];

class ListMerge {
  readonly #target: Target;
  readonly #keys: readonly string[] | undefined;
  readonly #work: Work;
  /** Reads the list, or an empty one. */
  readonly #list: string;
  readonly #item: Place;
  readonly #names: { readonly index: string; readonly item: string };
  readonly #edits: Step[] = [];
  readonly #removals: Step[] = [];
  readonly #additions: { readonly condition: CelText; readonly value: string }[] = [];

  constructor(target: Target, keys: readonly string[] | undefined, work: Work) {
    const { place, path } = target;
    this.#target = target;
    this.#keys = keys;
    this.#work = work;
    this.#names = { index: indexes[work.depth] ?? 'n', item: itemName(place) };
    this.#item = itemOf(place, this.#names.index, this.#names.item);
    const list = text(listAt(place), 'dyn', precedence.ternary);
    const hint = String(place.pointer.findLast((part) => typeof part === 'string') ?? 'items');
    this.#list = work.depth === 0 ? work.scope.variable(hint, list, path).source : `(${list.source})`;
  }

  run(items: JsonArray): readonly Step[] {
    for (const [index, item] of items.entries()) this.#merge(item, `${this.#target.path}[${index}]`);
    if (items.length > 1) this.#refuseConflicts(items);
    return [...this.#edits, ...this.#removals, ...this.#additionSteps()];
  }

  #merge(item: Json, path: string): void {
    if (!isObject(item)) {
      if (this.#keys !== undefined && this.#keys.length > 0) throw keyMissing(path);
      const value = definiteText(item, { ...this.#writing(path) });
      this.#addIfAbsent(value.source);
      return;
    }
    const { conditions } = readOverlayMap(item, path);
    const [first] = this.#keys ?? [];
    const hasKey = first !== undefined && item[first] !== undefined && item[first] !== null;
    const isAnchored = hasAnchor(item, ['condition', 'global', 'add']);
    if (conditions.length > 0 || (!hasKey && isAnchored)) this.#mergeWhereAnchorsHold(item, path);
    else if (hasKey && this.#keys !== undefined) this.#mergeByKey(item, path);
    else if (this.#keys !== undefined) throw keyMissing(path);
    else this.#addIfAbsent(freshText(item, this.#writing(path)).source);
  }

  #mergeWhereAnchorsHold(item: JsonObject, path: string): void {
    const { name, ...nameless } = item;
    const work = this.#itemWork();
    const edits = [...this.#work.mapSteps(nameless, this.#itemTarget(path), work)];
    if (name !== undefined && item['$patch'] !== 'delete') {
      const place = fieldOf(this.#item, 'name');
      const value = definiteText(name, { scope: work.scope, schema: undefined, path: `${path}.name` });
      edits.push(when(isMissing(place), [add(pointerText(place.pointer), value.source)]));
    }
    const condition = allOf(work.guards);
    if (hasAnchor(item, ['global'])) this.#guardPatch(item, path, condition);
    this.#forEach(item, condition, edits);
  }

  /** If the global condition fails for some items and holds for none, the patch has no effect at all. */
  #guardPatch(item: JsonObject, path: string, all: CelText): void {
    if (this.#work.depth > 0) throw new NotConvertible(path, 'a <() anchor in a list inside of a list');
    const { item: name } = this.#names;
    const exists = call(`${this.#list}.exists(${name}, ${all.source})`);
    if (!hasAnchor(item, ['condition'])) {
      this.#work.patchGuards.push(exists);
      return;
    }
    if (hasConditionsBelow(item))
      throw new NotConvertible(path, 'conditions of both kinds below a list item');
    const globals = Object.fromEntries(Object.entries(item).filter(([key]) => key.trim().startsWith('<(')));
    const work = this.#itemWork();
    this.#work.mapSteps(globals, this.#itemTarget(path), work);
    const none = call(`${this.#list}.all(${name}, ${allOf(work.guards).source})`);
    const filled = { ...text(`size(${this.#list}) > 0`, 'bool', precedence.relation), total: true };
    this.#work.patchGuards.push(anyOf([exists, allOf([filled, none])]));
  }

  #mergeByKey(item: JsonObject, path: string): void {
    const keys = this.#keys ?? [];
    const same = this.#sameKeys(item, path);
    const rest = Object.fromEntries(Object.entries(item).filter(([key]) => !keys.includes(key)));
    const work = this.#itemWork();
    const edits =
      item['$patch'] === 'delete'
        ? this.#work.mapSteps(item, this.#itemTarget(path), work)
        : this.#editsOf(rest, item, path, work);
    const condition = allOf([item['$patch'] === 'delete' ? same : this.#isLast(same), ...work.guards]);
    if (hasAnchor(item, ['global'])) this.#guardPatch(item, path, condition);
    this.#forEach(item, condition, edits);
    if (item['$patch'] === 'delete' || hasConditions(item)) return;
    const last = this.#target.place.pointer.at(-1);
    const isContainer =
      typeof last === 'string' && containerLists.has(last) && this.#target.merge !== undefined;
    if (isContainer && (item['image'] ?? item['+(image)'] ?? '') === '') return;
    this.#additions.push({
      condition: not(call(`${this.#list}.exists(${this.#names.item}, ${same.source})`)),
      value: freshText(item, this.#writing(path)).source,
    });
  }

  /** A second key that an item lacks is written. */
  #editsOf(rest: JsonObject, item: JsonObject, path: string, work: Work): readonly Step[] {
    const edits = [...this.#work.mapSteps(rest, this.#itemTarget(path), work)];
    const [, ...more] = this.#keys ?? [];
    const target = this.#itemTarget(path);
    for (const key of more) {
      const value = item[key];
      if (value === undefined || value === null) continue;
      edits.push(...this.#work.mapSteps({ [key]: value }, target, work));
    }
    return edits;
  }

  /** Whether the item has the keys of the overlay item. The protocol of a port is TCP by default. */
  #sameKeys(item: JsonObject, path: string): CelText {
    const [first = '', ...more] = this.#keys ?? [];
    const isFirst = this.#hasKey(first, item[first] ?? null, `${path}.${first}`);
    if (more.length === 0) return isFirst;
    const fits = more.map((key) => {
      const value = item[key];
      if (key === 'protocol') {
        const protocol = definiteText(value ?? 'TCP', this.#writing(`${path}.${key}`)).source;
        const place = fieldOf(this.#item, key);
        return relation(
          `${isMissing(place)} ? 'TCP' == ${protocol} : ${place.read} == ${protocol}`,
          precedence.ternary,
        );
      }
      if (value === undefined || value === null) {
        throw new NotConvertible(path, `the item does not have the merge key ${key}`);
      }
      return anyOf([
        relation(isMissing(fieldOf(this.#item, key))),
        this.#hasKey(key, value, `${path}.${key}`),
      ]);
    });
    const isPartial = more.some((key) => item[key] === undefined || item[key] === null);
    if (!isPartial) return allOf([isFirst, ...fits]);
    const only = relation(`${this.#list}.filter(${this.#names.item}, ${isFirst.source}).size() == 1`);
    return allOf([isFirst, anyOf([allOf(fits), only])]);
  }

  /** Of several items with the same key the last one counts. */
  #isLast(same: CelText): CelText {
    const { index, item } = this.#names;
    const others = same.source.replaceAll(new RegExp(`(?<![\\w.'])${item}\\b`, 'g'), 'other');
    return allOf([
      same,
      not(call(`${this.#list}.exists(${index}2, other, ${index}2 > ${index} && ${others})`)),
    ]);
  }

  #hasKey(key: string, value: Json, path: string): CelText {
    const place = fieldOf(this.#item, key);
    return relation(
      `${place.optional}.orValue(null) == ${definiteText(value, this.#writing(path, key)).source}`,
    );
  }

  #forEach(item: JsonObject, condition: CelText, steps: readonly Step[]): void {
    if (steps.length === 0) return;
    const isRemoval = item['$patch'] === 'delete';
    const loop: Step = {
      type: 'each',
      list: this.#list,
      ...this.#names,
      condition: condition.source,
      steps: isRemoval ? [remove(pointerText(this.#item.pointer))] : steps,
      reversed: isRemoval,
    };
    (isRemoval ? this.#removals : this.#edits).push(loop);
  }

  #addIfAbsent(value: string): void {
    this.#additions.push({
      condition: { ...text(`!(${value} in ${this.#list})`, 'bool', precedence.unary), total: true },
      value,
    });
  }

  /** New items come before all others, in the order of the overlay. */
  #additionSteps(): readonly Step[] {
    if (this.#additions.length === 0) return [];
    const { place } = this.#target;
    const first = pointerText(place.pointer, '0');
    return [
      createParent(isMissing(place), pointerText(place.pointer), '[]'),
      ...this.#additions
        .toReversed()
        .map(({ condition, value }) => when(condition.source, [add(first, value)])),
    ];
  }

  #itemWork(): Work {
    return { ...this.#work, guards: [], depth: this.#work.depth + 1 };
  }

  #itemTarget(path: string): Target {
    const { declared, merge, isApplied, checksTypes } = this.#target;
    return {
      isApplied,
      checksTypes,
      place: this.#item,
      merge: merge?.items,
      declared: declared?.kind === 'list' ? declared.items : undefined,
      path,
    };
  }

  #writing(path: string, key?: string) {
    const { declared } = this.#itemTarget(path);
    const schema = key === undefined ? declared : declared?.kind === 'map' ? declared.field(key) : undefined;
    return { scope: this.#work.scope, schema, path };
  }

  /** Items of the patch see each other's changes; the steps all see the object before the patch. */
  #refuseConflicts(items: JsonArray): void {
    const written = new Set<string>();
    for (const item of items) {
      if (!isObject(item)) continue;
      for (const key of Object.keys(item)) {
        if (!key.startsWith('+(')) continue;
        const identity = `${stringifyJson(item['name'] ?? item[this.#keys?.[0] ?? ''] ?? '')} ${key}`;
        if (written.has(identity))
          throw new NotConvertible(this.#target.path, `several items add ${key.slice(2, -1)}`);
        written.add(identity);
      }
    }
  }
}

function hasConditionsBelow(item: JsonObject): boolean {
  return Object.entries(item).some(([key, value]) => !/^<?\(/.test(key.trim()) && hasConditions(value));
}

function call(source: string): CelText {
  return { ...text(source, 'bool'), total: true };
}

function relation(source: string, level: number = precedence.relation): CelText {
  return { ...text(source, 'bool', level), total: true };
}

function keyMissing(path: string): NotConvertible {
  return new NotConvertible(
    path,
    'the rule always fails here: the item has neither the merge key nor an anchor',
  );
}
