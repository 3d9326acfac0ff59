/** One step of turning a list into another, in order. Indexes are those of the original lists. */
export type AlignStep =
  | { readonly type: 'keep'; readonly count: number }
  | { readonly type: 'change'; readonly before: number; readonly after: number }
  | { readonly type: 'remove' }
  | { readonly type: 'add'; readonly after: number };

/** A stretch of both lists, ends excluded. */
export interface Range {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

export function keep(count: number, steps: AlignStep[]): void {
  if (count > 0) steps.push({ type: 'keep', count });
}

/** Items that stand at the same place change; what is left over goes or comes. */
export function pairByPosition(range: Range, steps: AlignStep[]): void {
  let { beforeStart, afterStart } = range;
  while (beforeStart < range.beforeEnd && afterStart < range.afterEnd) {
    steps.push({ type: 'change', before: beforeStart++, after: afterStart++ });
  }
  while (beforeStart++ < range.beforeEnd) steps.push({ type: 'remove' });
  while (afterStart < range.afterEnd) steps.push({ type: 'add', after: afterStart++ });
}
