import type { Steps } from '../../engine/steps.ts';
import { createWorkClock } from './work-clock.ts';

/** A review whose body has arrived. */
export interface QueuedReview {
  /** They must not throw. */
  readonly steps: Steps<void>;
  readonly isLarge: boolean;
  /** Called instead of the steps when the review would wait too long. */
  shed(): void;
}

export interface Turns {
  /** Calls back in the next turn of the event loop, when most bodies are complete. */
  arrive(receive: () => void): void;
  /** Queues a review, or sheds it at once. */
  add(review: QueuedReview): void;
  /** Reviews that wait for their first step. */
  readonly queueLength: number;
}

export interface TurnsOptions {
  /** Milliseconds in which the process could work. */
  readonly now?: (() => number) | undefined;
  readonly schedule?: ((turn: () => void) => void) | undefined;
}

/** Between turns the event loop serves other work, such as health checks and watches. */
const turnMilliseconds = 20;
/** A review that is expected to wait longer is shed at once. */
const expectedWaitMilliseconds = 500;
/** A review that has waited longer nevertheless is shed: answers come within a second. */
const longestWaitMilliseconds = 600;
/** A pause of the process counts as no more: it delays reviews, but the server is not overloaded. */
const longestPauseMilliseconds = 250;
const longestQueue = 1_000;
const largestBatch = 16;

/**
 * Reviews that arrive together are answered together: each advances by one step before any of them takes the next one. Code
 * that runs sixteen times in a row stays in the caches of the processor: under load this saves a third of the time. Large
 * reviews are answered one at a time between the batches of small ones, so that neither waits for many of the other.
 *
 * The queue is as long as reviews can be answered in time, judged by those before. What exceeds it is shed at once: an
 * overloaded server answers as many reviews as it can instead of all of them too late.
 */
export function createTurns({ now = createWorkClock(), schedule = setImmediate }: TurnsOptions = {}): Turns {
  let arrivals: (() => void)[] = [];
  const resumed: Steps<void>[] = [];
  const small = new ReviewQueue({ usualMilliseconds: 0.5, shortest: 32 });
  const large = new ReviewQueue({ usualMilliseconds: 5, shortest: 8 });
  let isScheduled = false;
  /** The last turn, if it left reviews in a queue. */
  let unfinished: Turn | undefined;

  function scheduleTurn(): void {
    if (!isScheduled) schedule(takeTurn);
    isScheduled = true;
  }

  function takeTurn(): void {
    try {
      answerQueued();
    } finally {
      // Not before: reviews that are added in the turn need no further one, unless they are left over.
      isScheduled = false;
      if (arrivals.length + resumed.length + small.length + large.length > 0) scheduleTurn();
    }
  }

  function answerQueued(): void {
    const turn: Turn = { startedAt: now(), endedAt: 0, small: 0, large: 0 };
    if (unfinished !== undefined) learnFromBacklog(unfinished, turn.startedAt);
    const arrived = arrivals;
    arrivals = [];
    for (const receive of arrived) receive();
    // Reviews that are shed on arrival must not take the time of those that are answered.
    const answeringFrom = now();
    do {
      const begun = small.take(small.fitting(turnMilliseconds, largestBatch));
      turn.small += begun.length;
      run([...resumed.splice(0, largestBatch), ...begun]);
      const alone = large.take(1);
      turn.large += alone.length;
      run(alone);
    } while (resumed.length + small.length > 0 && now() - answeringFrom < turnMilliseconds);
    turn.endedAt = now();
    unfinished = small.length + large.length > 0 ? turn : undefined;
    if (unfinished === undefined) learn(turn, turn.endedAt - turn.startedAt);
  }

  /** What happens between the turns of a backlog, such as decryption, also delays its reviews. */
  function learnFromBacklog(turn: Turn, nextAt: number): void {
    const [inside, between] = [turn.endedAt - turn.startedAt, nextAt - turn.endedAt];
    learn(turn, inside + Math.min(between, Math.max(inside, turnMilliseconds)), rememberedMilliseconds);
    const passed = Math.min(inside + between, longestPauseMilliseconds);
    small.pass(passed);
    large.pass(passed);
  }

  function learn(turn: Turn, milliseconds: number, memory?: number): void {
    small.learn(milliseconds, turn.small, memory);
    large.learn(milliseconds, turn.large, memory);
  }

  function run(begun: Steps<void>[]): void {
    let running = begun;
    while (running.length > 0) running = running.filter(advance);
  }

  /** Takes one step. Returns whether the next one can follow in this turn. */
  function advance(steps: Steps<void>): boolean {
    const { done, value } = steps.next();
    if (done === true) return false;
    if (value === undefined) return true;
    const resume = () => {
      resumed.push(steps);
      scheduleTurn();
    };
    value.then(resume, resume);
    return false;
  }

  return {
    arrive(receive) {
      arrivals.push(receive);
      scheduleTurn();
    },
    add(review) {
      (review.isLarge ? large : small).add(review);
      scheduleTurn();
    },
    get queueLength() {
      return small.length + large.length;
    },
  };
}

interface Turn {
  readonly startedAt: number;
  endedAt: number;
  /** Reviews that began in it. */
  small: number;
  large: number;
}

interface ReviewQueueOptions {
  /** The cost of a review, assumed at the start. */
  readonly usualMilliseconds: number;
  /** So many always wait, however slow reviews were before: a single slow one must shed nothing. */
  readonly shortest: number;
}

/** The cost of a review is the average of about so many. */
const rememberedReviews = 64;
/** In a backlog, it is the average of this time, if that is shorter: what delays the reviews now counts. */
const rememberedMilliseconds = 500;

class ReviewQueue {
  readonly #shortest: number;
  readonly #reviews: { readonly review: QueuedReview; readonly arrivedAt: number }[] = [];
  #milliseconds: number;
  #count = rememberedReviews;
  /** The time in which there was a backlog. */
  #time = 0;

  constructor({ usualMilliseconds, shortest }: ReviewQueueOptions) {
    this.#shortest = shortest;
    this.#milliseconds = rememberedReviews * usualMilliseconds;
  }

  get length(): number {
    return this.#reviews.length;
  }

  /** How many reviews are expected to take so long: at least one. */
  fitting(milliseconds: number, most: number): number {
    const cost = this.#milliseconds / this.#count;
    return Math.max(1, cost * most <= milliseconds ? most : Math.floor(milliseconds / cost));
  }

  add(review: QueuedReview): void {
    if (this.length < this.#limit()) this.#reviews.push({ review, arrivedAt: this.#time });
    else review.shed();
  }

  /** The oldest reviews that have not waited too long. */
  take(count: number): Steps<void>[] {
    let late = 0;
    while (this.#time - (this.#reviews[late]?.arrivedAt ?? this.#time) > longestWaitMilliseconds) late += 1;
    for (const { review } of this.#reviews.splice(0, late)) review.shed();
    return this.#reviews.splice(0, count).map(({ review }) => review.steps);
  }

  pass(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** Sheds the newest reviews if all are slower than they were expected to be. */
  learn(milliseconds: number, count: number, memory = Number.POSITIVE_INFINITY): void {
    if (count === 0) return;
    // A pause of the process in a turn is not the cost of its reviews. If they are slow, the next turns show it, too.
    const credible = 2 * count * (this.#milliseconds / this.#count) + turnMilliseconds;
    const kept = Math.exp(-Math.max(count / rememberedReviews, milliseconds / memory));
    this.#milliseconds = this.#milliseconds * kept + Math.min(milliseconds, credible);
    this.#count = this.#count * kept + count;
    for (const { review } of this.#reviews.splice(this.#limit())) review.shed();
  }

  #limit(): number {
    return Math.max(this.#shortest, this.fitting(expectedWaitMilliseconds, longestQueue));
  }
}
