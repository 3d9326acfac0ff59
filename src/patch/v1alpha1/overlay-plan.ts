import type { Json } from '../../json/value.ts';

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
