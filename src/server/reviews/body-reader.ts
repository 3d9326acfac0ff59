import type { IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.ts';

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

export type BodyReader = (request: IncomingMessage) => Promise<Body>;

const minimumCapacity = 64 * 1024;
const retryAfterSeconds = 1;

/**
 * Reads bodies within a budget for all connections together. When the budget is exhausted, the oldest upload that is still
 * incomplete is refused: bodies of API servers arrive at once, so the oldest upload is most likely stalled. Memory follows
 * the received bytes, never the Content-Length.
 */
export function createBodyReader({ bodyLimit, budget }: BodyReaderOptions): BodyReader {
  let used = 0;
  /** Incomplete uploads, oldest first. */
  const uploads = new Set<Upload>();

  function charge(own: Upload, bytes: number): void {
    used += bytes;
    own.charged += bytes;
    while (used > budget) {
      const oldest = firstOther(uploads, own);
      if (oldest === undefined) throw overloaded();
      oldest.fail(overloaded());
    }
  }

  function release(own: Upload): void {
    used -= own.charged;
    own.charged = 0;
    uploads.delete(own);
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return reject(tooLarge());
      const received = new ReceivedBytes(bodyLimit);
      const upload: Upload = {
        charged: 0,
        fail(error) {
          request.off('data', onData).off('end', onEnd);
          // Discards the rest; the connection is closed after the answer.
          request.resume();
          received.clear();
          release(upload);
          reject(error);
        },
      };
      const onData = (chunk: Buffer) => {
        try {
          if (received.length + chunk.length > bodyLimit) throw tooLarge();
          charge(upload, received.growthFor(chunk));
          received.append(chunk);
        } catch (error) {
          upload.fail(error as Error);
        }
      };
      const onEnd = () => {
        uploads.delete(upload);
        resolve({
          bytes: received.bytes(),
          charge: (bytes) => charge(upload, bytes),
          release: () => release(upload),
        });
      };
      uploads.add(upload);
      request.on('data', onData).on('end', onEnd);
      request.on('error', () =>
        upload.fail(new HttpError(400, 'the connection closed before the body arrived')),
      );
    });
}

interface Upload {
  charged: number;
  fail(error: Error): void;
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

function firstOther(uploads: ReadonlySet<Upload>, own: Upload): Upload | undefined {
  for (const upload of uploads) if (upload !== own && upload.charged > 0) return upload;
  return undefined;
}

function tooLarge(): HttpError {
  return new HttpError(413, 'the body is too large');
}

function overloaded(): HttpError {
  return new HttpError(503, 'too many requests are in flight', { retryAfterSeconds });
}
