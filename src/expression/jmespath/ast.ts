import type { Json } from '../../json/value.ts';

/** A quoted string with nested variables. A number is the index of a variable. */
export interface BoundText {
  readonly parts: readonly (string | number)[];
}

/** A literal in backticks with nested variables: JSON source and variables. */
export interface BoundJson {
  readonly parts: readonly (string | BoundJsonPart)[];
}

export interface BoundJsonPart {
  readonly variable: number;
  /** Inside a JSON string of the literal. */
  readonly inString: boolean;
}

export type TextValue = string | BoundText;

/** A member name or a list index. */
export type PathStep = TextValue | number;

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** Every node carries its depth, which bounds the stack that evaluation needs. */
export type Node = { readonly depth: number } & (
  | { readonly type: 'path'; readonly head: Node | undefined; readonly steps: readonly PathStep[] }
  | { readonly type: 'literal'; readonly value: Json }
  | { readonly type: 'bound-text'; readonly text: BoundText }
  | { readonly type: 'bound-json'; readonly json: BoundJson }
  | { readonly type: 'chain'; readonly left: Node; readonly right: Node }
  | { readonly type: 'pipe' | 'or' | 'and' | 'list'; readonly children: readonly Node[] }
  | { readonly type: 'not' | 'flatten' | 'reference'; readonly child: Node }
  | {
      readonly type: 'compare';
      readonly operator: ComparisonOperator;
      readonly left: Node;
      readonly right: Node;
    }
  | { readonly type: 'hash'; readonly entries: readonly { readonly key: TextValue; readonly value: Node }[] }
  | { readonly type: 'projection' | 'value-projection'; readonly left: Node; readonly right: Node }
  | { readonly type: 'filter'; readonly left: Node; readonly right: Node; readonly condition: Node }
  | { readonly type: 'slice'; readonly left: Node; readonly parts: readonly (number | undefined)[] }
  | {
      readonly type: 'call';
      readonly name: string;
      readonly args: readonly Node[];
      readonly position: number;
    }
);
