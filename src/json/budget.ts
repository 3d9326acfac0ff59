import type { ErrorCode } from '../errors.ts';
import { isArray, isObject, type Json, type Path } from './value.ts';

/** What one policy may spend on a request. */
export interface BudgetLimits {
  /** A step is about as much work as one small closure: some 20 to 50 nanoseconds. */
  readonly steps: number;
  /** Bytes of the strings and lists that evaluation builds, including those that are already garbage. */
  readonly bytes: number;
  /** Evaluation time. Requires a clock. Bounds work whose steps are estimated too low. */
  readonly milliseconds?: number | undefined;
  /** When the request must be answered, by the same clock. */
  readonly deadline?: number | undefined;
}

/** For files and tests: one or two seconds. */
export const generousLimits: BudgetLimits = { steps: 50_000_000, bytes: 1 << 28 };

/** For a server: some 50 milliseconds, a thousand times the work of a typical policy. */
export const admissionLimits: BudgetLimits = { steps: 1_000_000, bytes: 1 << 26, milliseconds: 500 };

/**
 * Evaluation needs more than its budget. Not an EvaluationError: defaults, exceptions and projections recover from
 * those, but nothing may recover from this one.
 */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
  readonly code: ErrorCode = 'KYM_BUDGET_EXHAUSTED';
  /** Path in the rule of the template or expression, when it is known. */
  readonly location: Path | undefined;
  constructor(message: string, location?: Path) {
    super(message);
    this.location = location;
  }
}

/** What one evaluation has spent. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #clock: (() => number) | undefined;
  #steps = 0;
  #bytes = 0;
  #milliseconds = 0;
  /** Set at the first check of a run, so that short evaluations never read the clock. */
  #startedAt: number | undefined;

  constructor(limits: BudgetLimits, clock?: () => number) {
    this.limits = limits;
    this.#clock = clock;
  }

  /** Steps spent in finished runs. */
  get steps(): number {
    return this.#steps;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Steps until the next check. */
  get credit(): number {
    return Math.max(0, Math.min(stepsPerCheck, this.limits.steps - this.#steps));
  }

  add(steps: number): void {
    this.#steps += steps;
  }

  /** Throws BudgetError when a limit is exceeded. */
  check(): void {
    if (this.#steps > this.limits.steps) {
      throw new BudgetError(`the evaluation takes more than ${this.limits.steps} steps`);
    }
    const { milliseconds, deadline } = this.limits;
    if (milliseconds === undefined || this.#clock === undefined) return;
    const now = this.#clock();
    if (deadline !== undefined && now > deadline) {
      throw new BudgetError('the time to answer the request is over');
    }
    this.#startedAt ??= now;
    if (this.#milliseconds + now - this.#startedAt > milliseconds) {
      throw new BudgetError(`the evaluation takes more than ${milliseconds} ms`);
    }
  }

  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.bytes) {
      throw new BudgetError(`the evaluation builds more than ${this.limits.bytes} bytes of data`);
    }
  }

  /** As new: for the next policy. */
  restart(): void {
    this.#steps = 0;
    this.#bytes = 0;
    this.#milliseconds = 0;
    this.#startedAt = undefined;
  }

  endRun(): void {
    if (this.#startedAt !== undefined && this.#clock !== undefined) {
      this.#milliseconds += this.#clock() - this.#startedAt;
    }
    this.#startedAt = undefined;
  }
}

const stepsPerCheck = 4_096;
/** Fits into a small integer of V8, so that counting never allocates. */
const unlimited = 0x3fff_ffff;

// Evaluation is synchronous, so there is one budget at a time. As a module variable it reaches wildcards, equality and
// the diff without a parameter on each of their callers, and it costs a decrement.
let current: Budget | undefined;
let credit = unlimited;
let granted = unlimited;
/** All steps of all budgets. */
let total = 0;

/** Charges everything that `run` does to the budget. */
export function withBudget<T>(budget: Budget, run: () => T): T {
  const outer = current;
  settle();
  current = budget;
  grant();
  try {
    return run();
  } finally {
    settle();
    budget.endRun();
    current = outer;
    grant();
  }
}

/** Charges the steps of the budgets inside `run` also to the budget around it. */
export function spendInner<T>(run: () => T): T {
  settle();
  grant();
  // Steps that the outer budget has counted itself are not counted again.
  const before = total - (current?.steps ?? 0);
  try {
    return run();
  } finally {
    settle();
    current?.add(total - before - current.steps);
    grant();
  }
}

/** Throws BudgetError when the running evaluation has no steps left. */
export function spendSteps(count: number): void {
  credit -= count;
  if (credit < 0) checkSteps();
}

/** Charges memory before it is allocated. */
export function spendBytes(count: number): void {
  current?.addBytes(count);
}

/** A string of this length is scanned or copied by built-in code, and kept. */
export function spendText(length: number): void {
  spendSteps(1 + (length >> 5));
  if (length > 64) current?.addBytes(length);
}

/** No Kubernetes object is nested as deeply. */
const deepest = 1_000;

/**
 * Charges a walk over the whole value. Expressions build values that share parts with themselves, so that forty small
 * lists can stand for more items than there is memory: this must be called wherever such a value leaves an expression.
 */
export function spendSize(value: Json, depth = 0): void {
  // The caller has a limit of its own, or fails for want of stack.
  if (depth > deepest) return;
  if (typeof value === 'string') spendText(value.length);
  else if (isArray(value)) {
    spendList(value.length);
    for (const item of value) spendSize(item, depth + 1);
  } else if (isObject(value)) {
    const keys = Object.keys(value);
    spendList(keys.length);
    for (const key of keys) spendSize(value[key] as Json, depth + 1);
  } else spendSteps(1);
}

/** A list of this length is built. */
export function spendList(length: number): void {
  spendSteps(1 + length);
  if (length > 8) current?.addBytes(length * 8);
}

function checkSteps(): void {
  settle();
  current?.check();
  grant();
}

function settle(): void {
  current?.add(granted - credit);
  total += granted - credit;
  granted = 0;
  credit = 0;
}

function grant(): void {
  granted = current === undefined ? unlimited : current.credit;
  credit = granted;
}
