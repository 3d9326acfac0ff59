/** An evaluation error. `&&`, `||`, `all` and `exists` absorb it when another operand decides the result. */
export class CelError extends Error {
  override readonly name = 'CelError';
  /** Position in the expression, when it is known. */
  offset: number | undefined;
  constructor(message: string, offset?: number) {
    // The stack says nothing about the policy, and recording it is slow where `||` absorbs errors.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.offset = offset;
  }
}

export function noSuchOverload(offset?: number): CelError {
  return new CelError('no such overload', offset);
}

export function noSuchKey(key: string, offset?: number): CelError {
  return new CelError(`no such key: ${key}`, offset);
}
