import { compileWildcard } from '../../expression/wildcard.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  type Path,
} from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { parseAnchor } from '../strategic/anchor-syntax.ts';
import {
  newValue,
  type OverlayCondition,
  type OverlayList,
  type OverlayMap,
  type OverlayPlan,
} from './overlay-merge.ts';

const deepestOverlay = 250;

/** Undefined for null, which an overlay never writes, and after reporting a problem. */
function planOverlay(value: Json, path: Path, reporter: Reporter): OverlayPlan | undefined {
  if (value === null) return undefined;
  if (path.length > deepestOverlay) {
    reporter.error(
      path,
      'KYM_PATCH_TOO_DEEP',
      `the overlay is nested more than ${deepestOverlay} levels deep`,
    );
    return undefined;
  }
  if (isArray(value)) return planList(value, path, reporter);
  if (!isObject(value)) return { type: 'scalar', value };
  const plan = planMap(value, path, reporter);
  const onlyNulls =
    plan.members.length === 0 && plan.conditions.length === 0 && Object.keys(value).length > 0;
  return onlyNulls ? undefined : plan;
}

export function planMap(value: JsonObject, path: Path, reporter: Reporter): OverlayMap {
  const conditions: OverlayCondition[] = [];
  const members: { key: string; plan: OverlayPlan }[] = [];
  for (const key of Object.keys(value)) {
    const child = value[key] as Json;
    const anchor = parseAnchor(key);
    if (anchor === undefined) {
      const plan = planOverlay(child, [...path, key], reporter);
      if (plan !== undefined) members.push({ key, plan });
    } else if (anchor.type === 'condition') {
      conditions.push({
        anchor: anchor.text,
        key: anchor.key,
        expected: child,
        holds: compileCondition(child),
      });
    } else {
      reporter.error(
        [...path, key],
        'KYM_ANCHOR_UNSUPPORTED',
        `an overlay does not support the anchor ${anchor.text}`,
        'use (key), or a policy of kyverno.io/v1 with patchStrategicMerge',
      );
    }
  }
  return { type: 'map', conditions, members };
}

function planList(value: JsonArray, path: Path, reporter: Reporter): OverlayList {
  const each: OverlayMap[] = [];
  const items: Json[] = [];
  value.forEach((item, index) => {
    const plan = planOverlay(item, [...path, index], reporter);
    if (plan === undefined) return;
    if (plan.type === 'map' && (isConditional(plan) || isPath(plan))) {
      each.push(plan);
      return;
    }
    const created = newValue(plan);
    if (created !== undefined) items.push(created);
  });
  return { type: 'list', each, items };
}

/** Whether the item has an anchor, also in nested maps. Anchors in nested lists apply to those lists. */
function isConditional(plan: OverlayMap): boolean {
  return (
    plan.conditions.length > 0 ||
    plan.members.some(({ plan: inner }) => inner.type === 'map' && isConditional(inner))
  );
}

/** An item without scalars is not added: it is a path into the existing items. */
function isPath(plan: OverlayMap): boolean {
  return plan.members.every(({ plan: inner }) => inner.type !== 'scalar');
}

/** The whole value of an anchor is a condition. Scalars compare as strings, with `*` and `?`. */
function compileCondition(expected: Json): (actual: Json) => boolean {
  if (isArray(expected)) {
    const tests = expected.map(compileCondition);
    return (actual) => isArray(actual) && tests.every((holds) => actual.some(holds));
  }
  if (isObject(expected)) {
    const tests = Object.keys(expected).map((key) => ({
      key: parseAnchor(key)?.key ?? key,
      holds: compileCondition(expected[key] as Json),
    }));
    return (actual) =>
      isObject(actual) &&
      tests.every(({ key, holds }) => {
        const inner = member(actual, key);
        return inner !== undefined && holds(inner);
      });
  }
  if (expected === null) return (actual) => actual === null;
  const { matches } = compileWildcard(String(expected));
  return (actual) => typeof actual !== 'object' && matches(String(actual));
}
