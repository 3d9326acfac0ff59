import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createBodyReader } from './body-reader.ts';

/** A request whose headers have arrived, and so many chunks of its body. */
function requestWith(...chunks: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const chunk of chunks) request.push(Buffer.from(chunk));
  return request;
}

function completed(request: IncomingMessage): IncomingMessage {
  request.push(null);
  request.complete = true;
  return request;
}

const read = createBodyReader({ bodyLimit: 10, budget: 16 });

describe('a body', () => {
  it.each([
    ['in one chunk', ['{"a":1}'], '{"a":1}'],
    ['in several chunks', ['{"a"', ':1}'], '{"a":1}'],
    ['without bytes', [], ''],
  ])('that has arrived %s is returned at once', (_how, chunks, text) => {
    const body = read(completed(requestWith(...chunks)));
    expect(body).not.toBeInstanceOf(Promise);
    if (body instanceof Promise) return;
    expect(body.bytes.toString()).toBe(text);
    body.release();
  });

  it('that is still arriving is awaited', async () => {
    const request = requestWith('{"a"');
    const body = read(request);
    expect(body).toBeInstanceOf(Promise);
    request.push(Buffer.from(':1}'));
    completed(request);
    const received = await body;
    expect(received.bytes.toString()).toBe('{"a":1}');
    received.release();
  });

  it.each([
    ['has arrived', completed(requestWith('12345678901'))],
    ['is still arriving', requestWith('12345678901')],
  ])('that %s and is too large is refused', async (_state, request) => {
    await expect(async () => read(request)).rejects.toThrow('the body is too large');
  });

  it('counts against the budget until it is released', async () => {
    const first = await read(completed(requestWith('1234567890')));
    expect(() => read(completed(requestWith('1234567890')))).toThrow('too many requests are in flight');
    first.release();
    (await read(completed(requestWith('1234567890')))).release();
  });

  it.each([
    ['complete', completed],
    ['incomplete', (request: IncomingMessage) => request],
  ])('of a closed connection is refused if it is %s, because no event will follow', (_state, prepare) => {
    const request = prepare(requestWith('{}'));
    request.destroy();
    expect(() => read(request)).toThrow('the connection closed before the body arrived');
  });
});
