import { STATUS_CODES } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type PlainHead, readPlainHead } from './plain-head.ts';
import { reviewContentType } from './review-exchange.ts';
import type { Exchange, ReviewShortcut } from './review-shortcut.ts';

export interface DirectOptions {
  readonly shortcut: ReviewShortcut;
  readonly isDraining: () => boolean;
  /** Told when a request begins and when its answer is out. */
  readonly onBusy: (socket: TLSSocket, isBusy: boolean) => void;
  /** For connections on which something else is asked for: nothing of it has been read. */
  readonly handOver: (socket: TLSSocket) => void;
  /** How long a body may take to arrive. */
  readonly bodyMilliseconds: number;
  /** How long nothing may happen before a connection is closed: longer than API servers keep one that they do not use. */
  readonly idleMilliseconds: number;
}

const longestHead = 8 * 1024;
const rememberedHeads = 256;

/**
 * Reads reviews from HTTP/1.1 connections without Node's HTTP, which takes a quarter of the time of a review. An API
 * server sends one plain POST after the other on a connection. As soon as a connection brings anything else it is
 * handed over for good, with the request that was not understood still to be read.
 */
export function createDirectReader(options: DirectOptions): (socket: TLSSocket) => void {
  const heads = createHeadReader();
  const answerHeads = createAnswerHeads();
  return (socket) => new DirectConnection(socket, options, heads, answerHeads).open();
}

class DirectConnection {
  readonly #socket: TLSSocket;
  readonly #options: DirectOptions;
  readonly #heads: HeadReader;
  readonly #answerHeads: AnswerHeads;
  readonly #onData = (chunk: Buffer) => this.#take(chunk);
  readonly #onClose = () => clearTimeout(this.#timer);
  readonly #onIdle = () => this.#socket.destroy();
  /** Bytes of the next request, which came before this one was answered. */
  #next: Buffer | undefined;
  #isBusy = false;
  /** The request whose body is arriving. */
  #exchange: Exchange | undefined;
  #body: Buffer[] = [];
  #missing = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: TLSSocket, options: DirectOptions, heads: HeadReader, answerHeads: AnswerHeads) {
    this.#socket = socket;
    this.#options = options;
    this.#heads = heads;
    this.#answerHeads = answerHeads;
  }

  open(): void {
    this.#socket.on('data', this.#onData).on('close', this.#onClose).on('error', ignore);
    this.#socket.setTimeout(this.#options.idleMilliseconds, this.#onIdle);
  }

  #take(chunk: Buffer): void {
    if (this.#exchange !== undefined) this.#takeBody(chunk, this.#exchange);
    else if (this.#isBusy) this.#keepForLater(chunk);
    else this.#takeRequest(chunk);
  }

  #takeRequest(bytes: Buffer): void {
    const headLength = bytes.indexOf('\r\n\r\n');
    const head = headLength < 0 || headLength > longestHead ? undefined : this.#heads(bytes, headLength);
    const exchange = head === undefined ? undefined : this.#options.shortcut(head, this);
    if (head === undefined || exchange === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#setBusy(true);
    const bodyAt = headLength + 4;
    if (bytes.length === bodyAt + head.length) {
      exchange.receive(bytes.toString('utf8', bodyAt));
      return;
    }
    this.#exchange = exchange;
    this.#missing = head.length;
    this.#takeBody(bytes.subarray(bodyAt), exchange);
  }

  #takeBody(chunk: Buffer, exchange: Exchange): void {
    const isWhole = chunk.length >= this.#missing;
    this.#body.push(chunk.length > this.#missing ? chunk.subarray(0, this.#missing) : chunk);
    if (!isWhole) {
      this.#missing -= chunk.length;
      this.#timer ??= setTimeout(() => this.#giveUp(), this.#options.bodyMilliseconds);
      return;
    }
    if (chunk.length > this.#missing) this.#keepForLater(chunk.subarray(this.#missing));
    const body = Buffer.concat(this.#body);
    this.#forgetBody();
    exchange.receive(body.toString());
  }

  #forgetBody(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#exchange = undefined;
    this.#body = [];
  }

  /** No more is read than what is here already: a caller that does not wait for answers cannot fill the memory. */
  #keepForLater(chunk: Buffer): void {
    this.#next = this.#next === undefined ? chunk : Buffer.concat([this.#next, chunk]);
    this.#socket.pause();
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.pause();
    socket.off('data', this.#onData).off('close', this.#onClose).off('error', ignore);
    socket.setTimeout(0, this.#onIdle);
    socket.unshift(bytes);
    this.#options.handOver(socket);
    socket.resume();
  }

  #giveUp(): void {
    this.#forgetBody();
    this.#socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    this.#socket.destroySoon();
  }

  send(status: number, text: string): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    const isLast = this.#options.isDraining();
    const length = Buffer.byteLength(text);
    const head = this.#answerHeads(status, length, isLast);
    // One piece, one TLS record. Text that is not ASCII is turned into bytes first: the stream would take ten times longer.
    const isAllOut =
      length === text.length ? socket.write(head + text, 'latin1') : socket.write(Buffer.from(head + text));
    if (isLast) {
      this.#setBusy(false);
      socket.end();
    } else if (isAllOut) this.#goOn();
    else socket.once('drain', () => this.#goOn());
  }

  #goOn(): void {
    this.#setBusy(false);
    const bytes = this.#next;
    if (bytes === undefined) return;
    this.#next = undefined;
    this.#socket.resume();
    this.#takeRequest(bytes);
  }

  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#options.onBusy(this.#socket, isBusy);
  }
}

function ignore(): void {
  // A connection that breaks is closed; there is nobody to tell.
}

type HeadReader = (bytes: Buffer, length: number) => PlainHead | undefined;

/** A caller's heads are alike to the last byte but for the length of the body, so most have been seen before. */
function createHeadReader(): HeadReader {
  const known = new Map<string, PlainHead>();
  return (bytes, length) => {
    const text = bytes.toString('latin1', 0, length);
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const head = readPlainHead(text);
    if (head === undefined) return undefined;
    if (known.size >= rememberedHeads) known.clear();
    known.set(text, head);
    return head;
  };
}

type AnswerHeads = (status: number, length: number, isLast: boolean) => string;

function createAnswerHeads(): AnswerHeads {
  let second = 0;
  let date = '';
  return (status, length, isLast) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      second = now;
      date = new Date(now * 1000).toUTCString();
    }
    return (
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: ${reviewContentType}\r\n` +
      `content-length: ${length}\r\nDate: ${date}\r\nConnection: ${isLast ? 'close' : 'keep-alive'}\r\n\r\n`
    );
  };
}
