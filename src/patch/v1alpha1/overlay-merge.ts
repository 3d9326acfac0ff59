import { replaceItem, setMember } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { isArray, isObject, type Json, type JsonArray, member, type PathToken } from '../../json/value.ts';
import type { AnchorMiss } from '../compiled-patch.ts';

/** One application of an overlay: where it is in the object, and which anchors did not hold. */
export interface OverlayRun {
  readonly path: PathToken[];
  readonly misses: AnchorMiss[];
}

/** An anchor did not hold: the list item it belongs to, or else the whole overlay, is left out. */
export const missed = Symbol('missed');

/** The value after the overlay; undefined when there was none and there is nothing to create. */
export type Merged = Json | undefined | typeof missed;

export function mergeOverlay(plan: OverlayPlan, target: Json | undefined, run: OverlayRun): Merged {
  if (plan.type === 'scalar') return plan.value;
  return plan.type === 'map' ? mergeMap(plan, target, run) : mergeList(plan, target, run);
}

/** What the overlay writes where nothing is. */
export function newValue(plan: OverlayPlan): Json | undefined {
  const value = mergeOverlay(plan, undefined, { path: [], misses: [] });
  return value === missed ? undefined : value;
}

export function mergeMap(plan: OverlayMap, target: Json | undefined, run: OverlayRun): Merged {
  const before = isObject(target) ? target : {};
  for (const condition of plan.conditions) {
    const actual = member(before, condition.key);
    if (actual !== undefined && condition.holds(actual)) continue;
    const { anchor, expected } = condition;
    run.misses.push({ anchor, path: [...run.path, condition.key], expected, actual });
    return missed;
  }
  let after = before;
  for (const { key, plan: inner } of plan.members) {
    run.path.push(key);
    const value = mergeOverlay(inner, member(before, key), run);
    run.path.pop();
    if (value === missed) return missed;
    if (value !== undefined) after = setMember(after, key, value);
  }
  if (after !== before || isObject(target)) return after;
  return plan.members.length === 0 ? {} : target;
}

function mergeList(plan: OverlayList, target: Json | undefined, run: OverlayRun): Merged {
  const before: JsonArray = isArray(target) ? target : [];
  let after = before;
  for (const overlay of plan.each) {
    for (let index = 0; index < after.length; index++) {
      run.path.push(index);
      after = replaceItem(after, index, mergeItem(overlay, after[index] as Json, run));
      run.path.pop();
    }
  }
  for (const item of plan.items) {
    // Added items pass through the rest of the list too, so that a second run finds them as the first left them.
    const added = plan.each.reduce(
      (value, overlay) => mergeItem(overlay, value, { path: [], misses: [] }),
      item,
    );
    if (!after.some((existing) => equal(existing, added))) after = [...after, added];
  }
  if (after !== before || isArray(target)) return after;
  // A list that is not there has no items to lead a path to: making one up would add, say, a container without
  // name and image to every Pod that has no init containers.
  return plan.each.length === 0 ? [] : target;
}

/** Items that are no maps, or whose anchors do not hold, stay as they are. */
function mergeItem(overlay: OverlayMap, item: Json, run: OverlayRun): Json {
  if (!isObject(item)) return item;
  const merged = mergeMap(overlay, item, run);
  return merged === missed || merged === undefined ? item : merged;
}

/** A v1alpha1 overlay, sorted out when its policy is loaded: what is written, and under which conditions. */
export type OverlayPlan = { readonly type: 'scalar'; readonly value: Json } | OverlayMap | OverlayList;

export interface OverlayMap {
  readonly type: 'map';
  readonly conditions: readonly OverlayCondition[];
  readonly members: readonly { readonly key: string; readonly plan: OverlayPlan }[];
}

export interface OverlayList {
  readonly type: 'list';
  /** Merged into every item of the object's list, or into those for which their anchors hold. */
  readonly each: readonly OverlayMap[];
  /** Added unless an equal item is there. */
  readonly items: readonly Json[];
}

export interface OverlayCondition {
  /** As written: `(name)`. */
  readonly anchor: string;
  readonly key: string;
  readonly expected: Json;
  holds(actual: Json): boolean;
}
