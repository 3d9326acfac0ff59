/**
 * The objects and lists that a sequence of edits has copied. Nothing else refers to them, so later edits change them in
 * place: a loop that changes each item of a list copies the list once.
 */
export class Draft {
  #owned: Set<object> | undefined;

  owns(container: object): boolean {
    return this.#owned?.has(container) ?? false;
  }

  /** Takes a copy that has just been made. */
  own(copy: object): void {
    this.#owned ??= new Set();
    this.#owned.add(copy);
  }

  /** To be called before anything else can refer to a part of the edited value, such as a variable. */
  release(): void {
    this.#owned = undefined;
  }
}
