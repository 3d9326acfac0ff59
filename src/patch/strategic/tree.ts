import type { Json, JsonObject } from '../../json/value.ts';

/** A strategic merge overlay after loading: keys read for anchors and directives, variables behind slots. */
export type OverlayNode = ScalarNode | VariableNode | MapNode | ListNode;

export interface ScalarNode {
  readonly type: 'scalar';
  readonly value: null | boolean | number | string;
}

/** Filled in per run. What it yields is data: neither anchors nor directives are looked for inside. */
export interface VariableNode {
  readonly type: 'variable';
  readonly slot: number;
}

export type Directive = 'merge' | 'replace' | 'delete';

export interface MapNode {
  readonly type: 'map';
  readonly directive: Directive;
  readonly globals: readonly AnchorTest[];
  readonly conditions: readonly AnchorTest[];
  /** What is written: plain keys and `+()` keys. */
  readonly entries: readonly MapEntry[];
  /** The plain entries whose key is known at load. */
  readonly plain: ReadonlyMap<string, OverlayNode>;
  readonly upkeep: MapUpkeep | undefined;
  readonly inside: AnchorsInside;
  /** What is written where nothing is there yet, when that is known at load. */
  readonly constant: JsonObject | undefined;
  /** The same without its plain `name`: an anchored list item never renames what it matched. */
  readonly nameless: MapNode | undefined;
}

export interface MapEntry {
  readonly key: OverlayKey;
  /** `+()`: written only where the key is absent. */
  readonly add: boolean;
  readonly node: OverlayNode;
}

/** A key known at load, or the slot of the variable that yields it. */
export type OverlayKey = string | { readonly slot: number };

export interface ListNode {
  readonly type: 'list';
  /** From an item that consists of `$patch` alone. */
  readonly directive: Directive;
  readonly items: readonly OverlayNode[];
  readonly inside: AnchorsInside;
  readonly constant: readonly Json[] | undefined;
}

/** Which anchors a node holds, at any depth. */
export interface AnchorsInside {
  /** `()` or `<()`. */
  readonly conditions: boolean;
  readonly globals: boolean;
  readonly adds: boolean;
}

/** The directives of kubectl's patches that tidy up after the merge. */
export interface MapUpkeep {
  /** `$retainKeys` */
  readonly retainKeys?: Filled | undefined;
  /** `$deleteFromPrimitiveList/x` */
  readonly deletions: readonly FieldDirective[];
  /** `$setElementOrder/x` */
  readonly orders: readonly FieldDirective[];
}

export interface FieldDirective {
  readonly field: string;
  readonly values: Filled;
}

/** A value with its variables behind a slot; without variables, the value itself. */
export type Filled = { readonly slot: number } | { readonly slot?: undefined; readonly value: Json };

export interface AnchorTest {
  /** As written, e.g. `<(image)`. */
  readonly text: string;
  readonly key: OverlayKey;
  readonly holds: (value: Json, values: RunValues) => boolean;
  readonly expected: (values: RunValues) => Json;
}

/** What the overlay's variables yielded in this run, by slot. */
export interface RunValues {
  readonly slots: readonly Json[];
  /** Patterns made from variables, compiled when first needed. */
  readonly patterns: ((value: Json) => boolean)[];
}

export const nothingInside: AnchorsInside = { conditions: false, globals: false, adds: false };

export function insideOf(node: OverlayNode): AnchorsInside {
  return node.type === 'map' || node.type === 'list' ? node.inside : nothingInside;
}

export function joinInside(a: AnchorsInside, b: AnchorsInside): AnchorsInside {
  if (b === nothingInside) return a;
  return {
    conditions: a.conditions || b.conditions,
    globals: a.globals || b.globals,
    adds: a.adds || b.adds,
  };
}
