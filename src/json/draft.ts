/**
 * The objects and lists that a sequence of edits has copied. Nothing else refers to them, so later edits change them in
 * place: a loop that changes each item of a list copies the list once.
 */
export class Draft {
  /** The first copies. Most edits make only a few, and these are found faster in a list than in a set. */
  #first: object[] = [];
  #others: Set<object> | undefined;

  owns(container: object): boolean {
    return this.#first.includes(container) || (this.#others?.has(container) ?? false);
  }

  /** Takes a copy that has just been made. */
  own(copy: object): void {
    if (this.#first.length < mostInList) {
      this.#first.push(copy);
      return;
    }
    this.#others ??= new Set();
    this.#others.add(copy);
  }

  /** To be called before anything else can refer to a part of the edited value, such as a variable. */
  release(): void {
    if (this.#first.length > 0) this.#first = [];
    this.#others = undefined;
  }
}

const mostInList = 16;
