import { describe, expect, it } from 'vitest';
import { readPlainHead } from './plain-head.ts';

const head = (...lines: string[]) => lines.join('\r\n');
const fromApiServer = [
  'POST /mutate/fail?timeout=10s HTTP/1.1',
  'Host: kymera.kymera.svc:443',
  'User-Agent: kube-apiserver-admission',
  'Content-Length: 1986',
  'Accept: application/json, */*',
  'Content-Type: application/json',
  'Accept-Encoding: gzip',
];
const without = (name: string) => fromApiServer.filter((line) => !line.startsWith(name));

describe('the head of a plain request', () => {
  it('tells target and length', () => {
    expect(readPlainHead(head(...fromApiServer))).toEqual({
      target: '/mutate/fail?timeout=10s',
      length: 1986,
    });
  });

  it.each([
    ['names in any case', fromApiServer.map((line) => line.replace(/^[^ ]+:/, (name) => name.toUpperCase()))],
    ['no space after the colon', fromApiServer.map((line) => line.replace(': ', ':'))],
    ['an empty header', [...fromApiServer, 'X-Empty:']],
    ['a wish to keep the connection', [...fromApiServer, 'Connection: Keep-Alive']],
  ])('may have %s', (_what, lines) => {
    expect(readPlainHead(head(...lines))?.length).toBe(1986);
  });

  it.each([
    ['another method', fromApiServer.map((line) => line.replace('POST', 'PUT'))],
    ['an older version', fromApiServer.map((line) => line.replace('HTTP/1.1', 'HTTP/1.0'))],
    ['a target that is a URL', fromApiServer.map((line) => line.replace(' /mutate', ' https://h/mutate'))],
    ['two spaces before the version', fromApiServer.map((line) => line.replace(' HTTP', '  HTTP'))],
    ['no host', without('Host')],
    ['no length', without('Content-Length')],
    ['no type', without('Content-Type')],
    ['another type', [...without('Content-Type'), 'Content-Type: application/yaml']],
    ['a type with parameters', [...without('Content-Type'), 'Content-Type: application/json;charset=latin1']],
    ['two lengths', [...fromApiServer, 'content-length: 5']],
    ['the same length twice', [...fromApiServer, 'content-length: 1986']],
    ['a length with a sign', [...without('Content-Length'), 'Content-Length: +5']],
    ['a length in hexadecimal', [...without('Content-Length'), 'Content-Length: 0x10']],
    ['a list of lengths', [...without('Content-Length'), 'Content-Length: 5, 5']],
    ['a length and chunks', [...fromApiServer, 'Transfer-Encoding: chunked']],
    ['a compressed body', [...fromApiServer, 'Content-Encoding: gzip']],
    ['a question first', [...fromApiServer, 'Expect: 100-continue']],
    ['a wish for another protocol', [...fromApiServer, 'Connection: Upgrade', 'Upgrade: h2c']],
    ['a wish to close', [...fromApiServer, 'Connection: close']],
    ['a folded line', [...fromApiServer, 'X-Long: a', ' b']],
    ['a space before the colon', [...fromApiServer, 'Transfer-Encoding : chunked']],
    ['a name in other characters', [...fromApiServer, 'X_Y: 1']],
    ['no name', [...fromApiServer, ': 1']],
    ['a line end of its own', [...fromApiServer, 'X: a\nTransfer-Encoding: chunked']],
    ['a return in a value', [...fromApiServer, 'X: a\rb']],
    ['a null byte', [...fromApiServer, 'X: \0']],
    ['a value with a space at its end', [...fromApiServer, 'X: a ']],
    ['bytes beyond ASCII', [...fromApiServer, 'X: \xe9']],
    ['an empty line', [...fromApiServer, '', 'X: 1']],
    ['nothing', []],
  ])('is not plain with %s', (_what, lines) => {
    expect(readPlainHead(head(...lines))).toBeUndefined();
  });
});
