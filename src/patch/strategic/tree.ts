import type { Json, JsonObject } from '../../json/value.ts';
import type { StructuredSchema } from '../structured/schema.ts';

/** A compiled strategic merge overlay. Variables are slots. */
export type OverlayNode = ScalarNode | VariableNode | MapNode | ListNode;

export interface ScalarNode {
  readonly type: 'scalar';
  readonly value: null | boolean | number | bigint | string;
  /** Has the type that the schema declares. Otherwise a number or boolean becomes a string where it replaces one. */
  readonly isDeclared: boolean;
}

/** Substituted per run. Its value is data and cannot contain anchors or directives. */
export interface VariableNode {
  readonly type: 'variable';
  readonly slot: number;
  /** The schema of the value, if it is known. */
  readonly schema: StructuredSchema | undefined;
}

export type Directive = 'merge' | 'replace' | 'delete';

export interface MapNode {
  readonly type: 'map';
  readonly directive: Directive;
  readonly globals: readonly AnchorTest[];
  readonly conditions: readonly AnchorTest[];
  /** The fields to write: plain keys and `+()` keys. */
  readonly entries: readonly MapEntry[];
  /** The plain entries with a constant key. */
  readonly plain: ReadonlyMap<string, OverlayNode>;
  readonly directives: PostMergeDirectives | undefined;
  readonly inside: AnchorsInside;
  /** The value to write where the field is absent, when it is constant. */
  readonly constant: JsonObject | undefined;
  /** The same without its plain `name`: an anchored list item never renames a matching item. */
  readonly nameless: MapNode | undefined;
}

export interface MapEntry {
  readonly key: OverlayKey;
  /** No object inherits the key, so that reading it finds an own member or nothing. */
  readonly isOwn: boolean;
  /** `+()`: written only where the key is absent. */
  readonly add: boolean;
  readonly node: OverlayNode;
}

/** A constant key, or the slot of its variable. */
export type OverlayKey = string | { readonly slot: number };

export interface ListNode {
  readonly type: 'list';
  /** From an item that consists of `$patch` alone. */
  readonly directive: Directive;
  readonly items: readonly OverlayNode[];
  readonly inside: AnchorsInside;
  readonly constant: readonly Json[] | undefined;
}

/** Which anchors a node contains, at any depth. */
export interface AnchorsInside {
  /** `()` or `<()`. */
  readonly conditions: boolean;
  readonly globals: boolean;
  readonly adds: boolean;
}

/** Directives of kubectl's patches that apply after the merge. */
export interface PostMergeDirectives {
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

/** A constant value, or the slot of its variables. */
export type Filled = { readonly slot: number } | { readonly slot?: undefined; readonly value: Json };

export interface AnchorTest {
  /** As written, e.g. `<(image)`. */
  readonly text: string;
  readonly key: OverlayKey;
  /** As in `MapEntry`. */
  readonly isOwn: boolean;
  readonly holds: (value: Json, values: RunValues) => boolean;
  readonly expected: (values: RunValues) => Json;
}

/** Whether no object inherits the key. */
export function isOwnKey(key: OverlayKey): boolean {
  return typeof key === 'string' && !(key in Object.prototype);
}

/** The values of the overlay's variables in this run, by slot. */
export interface RunValues {
  readonly slots: readonly Json[];
  /** Patterns from variables, compiled on first use. */
  patterns: ((value: Json) => boolean)[] | undefined;
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
