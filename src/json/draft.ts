/** A loop over the containers of a usual pod has fewer copies. */
const mostFew = 16;

/**
 * The objects and lists that a sequence of edits has copied. Nothing else refers to them, so later edits change them in
 * place: a loop that changes each item of a list copies the list once.
 */
export class Draft {
  // A set of objects computes a hash of each, which costs more than searching a few.
  #few: object[] = [];
  /** Instead of `few`, when there are more. */
  #many: Set<object> | undefined;
  #notes: WeakMap<object, unknown> | undefined;

  owns(container: object): boolean {
    return this.#many === undefined ? this.#few.includes(container) : this.#many.has(container);
  }

  /** Takes a copy that has just been made. */
  own(copy: object): void {
    if (this.#many !== undefined) this.#many.add(copy);
    else if (this.#few.push(copy) > mostFew) this.#many = new Set(this.#few);
  }

  /**
   * What `compute` has found out about a container. It must stay true for the edits of the patch that asks: before
   * another patch makes its edits and this one asks again, the draft is released.
   */
  note<T>(container: object, compute: () => T): T {
    this.#notes ??= new WeakMap();
    if (!this.#notes.has(container)) this.#notes.set(container, compute());
    return this.#notes.get(container) as T;
  }

  /** To be called before anything else can refer to a part of the edited value, such as a variable. */
  release(): void {
    if (this.#few.length > 0) this.#few = [];
    this.#many = undefined;
    this.#notes = undefined;
  }
}
