import { spendSteps } from '../../json/budget.ts';
import { mapItems, setMember } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { isArray, isObject, type Json, type JsonArray, member, type PathToken } from '../../json/value.ts';
import type { AnchorMiss } from '../compiled-patch.ts';

/** The state of applying an overlay: the current path, and the anchors that did not hold. */
export interface OverlayRun {
  readonly path: PathToken[];
  readonly misses: AnchorMiss[];
}

/** An anchor did not hold: its list item, or else the whole overlay, is skipped. */
export const missed = Symbol('missed');

/** The merged value; undefined when there was none and nothing is created. */
export type Merged = Json | undefined | typeof missed;

export function mergeOverlay(plan: OverlayPlan, target: Json | undefined, run: OverlayRun): Merged {
  if (plan.type === 'scalar') return plan.value;
  return plan.type === 'map' ? mergeMap(plan, target, run) : mergeList(plan, target, run);
}

/** The value that the overlay creates where the field is absent. */
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
    spendSteps(2);
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
    after = mapItems(after, (item, index) => {
      spendSteps(4);
      run.path.push(index);
      const merged = mergeItem(overlay, item, run);
      run.path.pop();
      return merged;
    });
  }
  for (const item of plan.items) {
    // The other overlay items apply to added items too, so that a second run changes nothing.
    const added = plan.each.reduce(
      (value, overlay) => mergeItem(overlay, value, { path: [], misses: [] }),
      item,
    );
    if (!after.some((existing) => equal(existing, added))) after = [...after, added];
  }
  if (after !== before || isArray(target)) return after;
  // A path into the items of an absent list creates nothing: otherwise it would add, say, a container without
  // name and image to every Pod that has no init containers.
  return plan.each.length === 0 ? [] : target;
}

/** Items that are not maps, or whose anchors do not hold, are unchanged. */
function mergeItem(overlay: OverlayMap, item: Json, run: OverlayRun): Json {
  if (!isObject(item)) return item;
  const merged = mergeMap(overlay, item, run);
  return merged === missed || merged === undefined ? item : merged;
}

/** A compiled v1alpha1 overlay. */
export type OverlayPlan = { readonly type: 'scalar'; readonly value: Json } | OverlayMap | OverlayList;

export interface OverlayMap {
  readonly type: 'map';
  readonly conditions: readonly OverlayCondition[];
  readonly members: readonly { readonly key: string; readonly plan: OverlayPlan }[];
}

export interface OverlayList {
  readonly type: 'list';
  /** Merged into every item of the object's list whose anchors hold. */
  readonly each: readonly OverlayMap[];
  /** Added unless an equal item exists. */
  readonly items: readonly Json[];
}

export interface OverlayCondition {
  /** As written: `(name)`. */
  readonly anchor: string;
  readonly key: string;
  readonly expected: Json;
  holds(actual: Json): boolean;
}
