import type { IncomingMessage } from 'node:http';
import { HttpError, Overloaded } from '../http-error.ts';

export interface BodyReaderOptions {
  /** Largest body in bytes. */
  readonly bodyLimit: number;
  /** Bytes that all requests in flight may hold together. */
  readonly budget: number;
}

/** A complete body. It counts against the budget until it is released. */
export interface Body {
  readonly bytes: Buffer;
  /** Charges the budget for memory besides the bytes. Throws when the budget is exhausted. */
  charge(bytes: number): void;
  release(): void;
}

/** Returns a promise if the body is still arriving. Throws when a limit is exceeded. */
export type BodyReader = (request: IncomingMessage) => Body | Promise<Body>;

const minimumCapacity = 64 * 1024;
const noBytes = Buffer.alloc(0);

/**
 * Reads bodies within a budget for all connections together. When the budget is exhausted, the oldest upload that is still
 * incomplete is refused: bodies of API servers arrive at once, so the oldest upload is most likely stalled. Memory follows
 * the received bytes, never the Content-Length.
 */
export function createBodyReader({ bodyLimit, budget }: BodyReaderOptions): BodyReader {
  const account = new Account(budget);
  return (request) => {
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw tooLarge();
    // No event would follow.
    if (request.destroyed) throw disconnected();
    return request.complete
      ? takeBody(request, bodyLimit, account)
      : receiveBody(request, bodyLimit, account);
  };
}

/** Most bodies arrive together with their headers. Events for them would cost a tenth of the exchange. */
function takeBody(request: IncomingMessage, bodyLimit: number, account: Account): Body {
  if (request.readableLength > bodyLimit) throw tooLarge();
  const bytes = (request.read() as Buffer | null) ?? noBytes;
  const body = new ChargedBody(account, bytes);
  try {
    body.charge(bytes.length);
    return body;
  } catch (error) {
    body.release();
    throw error;
  }
}

function receiveBody(request: IncomingMessage, bodyLimit: number, account: Account): Promise<Body> {
  return new Promise((resolve, reject) => {
    const received = new ReceivedBytes(bodyLimit);
    const body = new ChargedBody(account);
    const fail = (error: Error) => {
      account.uploads.delete(body);
      request.off('data', onData).off('end', onEnd);
      // Discards the rest; the connection is closed after the answer.
      request.resume();
      received.clear();
      body.release();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        if (received.length + chunk.length > bodyLimit) throw tooLarge();
        body.charge(received.growthFor(chunk));
        received.append(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = () => {
      account.uploads.delete(body);
      body.bytes = received.bytes();
      resolve(body);
    };
    account.uploads.set(body, fail);
    request.on('data', onData).on('end', onEnd);
    request.on('error', () => {
      if (account.uploads.has(body)) fail(disconnected());
    });
  });
}

/** The bytes that all requests in flight hold. */
class Account {
  readonly #budget: number;
  #used = 0;
  /** How to end each incomplete upload, oldest first. */
  readonly uploads = new Map<ChargedBody, (error: Error) => void>();

  constructor(budget: number) {
    this.#budget = budget;
  }

  add(bytes: number): void {
    this.#used += bytes;
  }

  /** Throws when the budget is exhausted and no other upload can be ended. */
  check(own: ChargedBody): void {
    while (this.#used > this.#budget) this.#endOldestUpload(own);
  }

  #endOldestUpload(own: ChargedBody): void {
    for (const [body, end] of this.uploads) {
      if (body === own || body.charged === 0) continue;
      end(new Overloaded('memory'));
      return;
    }
    throw new Overloaded('memory');
  }
}

class ChargedBody implements Body {
  readonly #account: Account;
  bytes: Buffer;
  charged = 0;

  constructor(account: Account, bytes: Buffer = noBytes) {
    this.#account = account;
    this.bytes = bytes;
  }

  charge(bytes: number): void {
    this.charged += bytes;
    this.#account.add(bytes);
    this.#account.check(this);
  }

  release(): void {
    this.#account.add(-this.charged);
    this.charged = 0;
  }
}

/** Collects chunks in one buffer: a body that arrives byte by byte must not cost an object per byte. */
class ReceivedBytes {
  readonly #limit: number;
  length = 0;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How much memory `append` will add. */
  growthFor(chunk: Buffer): number {
    const needed = this.length + chunk.length;
    return needed <= this.#buffer.length ? 0 : this.#capacityFor(needed) - this.#buffer.length;
  }

  append(chunk: Buffer): void {
    const needed = this.length + chunk.length;
    if (this.length === 0) this.#buffer = chunk;
    else {
      if (needed > this.#buffer.length) {
        const grown = Buffer.allocUnsafeSlow(this.#capacityFor(needed));
        this.#buffer.copy(grown, 0, 0, this.length);
        this.#buffer = grown;
      }
      chunk.copy(this.#buffer, this.length);
    }
    this.length = needed;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    this.#buffer = Buffer.alloc(0);
  }

  /** Most bodies are one chunk, which is used as it is. */
  #capacityFor(needed: number): number {
    if (this.length === 0) return needed;
    return Math.max(needed, Math.min(this.#limit, Math.max(minimumCapacity, this.#buffer.length * 2)));
  }
}

function disconnected(): HttpError {
  return new HttpError(400, 'the connection closed before the body arrived');
}

function tooLarge(): HttpError {
  return new HttpError(413, 'the body is too large');
}
