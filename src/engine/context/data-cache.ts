import { Suspend } from '../../expression/scope.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { DataAnswer, DataQuery, DataSource } from './data-source.ts';

/** Caches the reads of one request: each query runs once, however many rules need it. */
export class DataCache {
  readonly #source: DataSource;
  /** Created at the first read: most requests read nothing. */
  #answers: Map<string, DataAnswer | Promise<void>> | undefined;

  constructor(source: DataSource) {
    this.#source = source;
  }

  /** Throws Suspend while the answer is pending. */
  read(query: DataQuery): DataAnswer {
    const key = stringifyJson(query);
    this.#answers ??= new Map();
    const answers = this.#answers;
    const known = answers.get(key);
    if (known instanceof Promise) throw new Suspend(known);
    if (known !== undefined) return known;
    const answer = this.#source.read(query);
    if (!(answer instanceof Promise)) {
      answers.set(key, answer);
      return answer;
    }
    const arrival = answer.then(
      (value) => {
        answers.set(key, value);
      },
      (error: unknown) => {
        answers.set(key, {
          found: false,
          error: error instanceof Error ? error.message : String(error),
        });
      },
    );
    answers.set(key, arrival);
    throw new Suspend(arrival);
  }
}
