import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { reviewContentType } from './review-exchange.ts';
import type { Exchange, Reply, ReviewShortcut } from './review-shortcut.ts';

type ServerRequest = IncomingMessage | Http2ServerRequest;
type ServerAnswer = ServerResponse | Http2ServerResponse;

export interface CallerRules {
  /** Callers must have shown a certificate that was accepted. */
  readonly isGuarded: boolean;
  readonly isDraining: () => boolean;
}

/** True when the request is answered here. */
export type NodeShortcut = (request: ServerRequest, response: ServerAnswer) => boolean;

/** The shortcut for requests that Node.js has read, of both protocols. */
export function takeShortcut(shortcut: ReviewShortcut, rules: CallerRules): NodeShortcut {
  return (request, response) => {
    const { headers, method, url = '' } = request;
    if (method !== 'POST' || headers['content-type'] !== 'application/json') return false;
    if (headers.expect !== undefined || headers['content-encoding'] !== undefined) return false;
    if (rules.isGuarded && (request.socket as TLSSocket).authorized !== true) return false;
    const post = { target: url, length: Number(headers['content-length']) };
    const exchange = shortcut(post, replyOn(response, rules.isDraining));
    if (exchange === undefined) return false;
    readBody(request, exchange);
    return true;
  };
}

function replyOn(response: ServerAnswer, isDraining: () => boolean): Reply {
  return {
    send(status, text) {
      const length = Buffer.byteLength(text);
      if (isDraining() && response.req.httpVersionMajor === 1) response.setHeader('connection', 'close');
      (response as ServerResponse).writeHead(status, {
        'content-type': reviewContentType,
        'content-length': length,
      });
      // Header and text leave in one piece. A text that is not ASCII is turned into bytes first: the stream would take ten times longer.
      if (length === text.length) (response as ServerResponse).end(text, 'latin1');
      else response.end(Buffer.from(text));
    },
  };
}

function readBody(request: ServerRequest, exchange: Exchange): void {
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  request.on('data', (chunk: Buffer) => {
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on('end', () => {
    const body = rest === undefined ? first : Buffer.concat(rest);
    exchange.receive(body === undefined ? '' : body.toString());
  });
  // A caller that left needs no answer.
  request.on('error', () => undefined);
}
