import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { anyText } from '../../json/text.testing.ts';
import type { Json } from '../../json/value.ts';
import { compileRegexp } from '../go/regexp.ts';
import { call } from './call.testing.ts';
import { parseAddress } from './ip-address.ts';

describe('time', () => {
  test.each<[string, string[], Json]>([
    ['time_parse', ['1', '1641691655'], '2022-01-09T01:27:35Z'],
    ['time_parse', ['0', '-1'], '1969-12-31T23:59:59Z'],
    ['time_since', ['', '2021-01-02T15:04:05-07:00', ''], '180h10m0s'],
    ['time_since', ['2006-01-02', '2021-01-01', '2021-01-02'], '24h0m0s'],
    ['time_add', ['2021-01-02T15:04:05Z', '-24h'], '2021-01-01T15:04:05Z'],
    ['time_after', ['2021-01-02T00:00:00Z', '2021-01-02T00:00:00Z'], false],
    ['time_before', ['2021-01-02T00:00:00+01:00', '2021-01-02T00:00:00Z'], true],
    ['time_between', ['2021-01-02T00:00:00Z', '2021-01-02T00:00:00Z', '2022-01-01T00:00:00Z'], false],
    ['time_diff', ['2021-01-02T00:00:00Z', '2021-01-01T00:00:00Z'], '-24h0m0s'],
    ['time_diff', ['0001-01-01T00:00:00Z', '9999-01-01T00:00:00Z'], '2562047h47m16.854775807s'],
    ['time_to_cron', ['2022-01-02T00:00:00Z'], '0 0 2 1 0'],
    ['time_now', [], '2021-01-10T10:14:05Z'],
  ])('%s(%j) is %j', (name, args, result) => {
    expect(call(name, args)).toBe(result);
  });

  test.each([
    ['time_utc', ['x'], 'cannot parse "x" as "2006"'],
    ['time_add', ['2021-01-02T15:04:05Z', '1d'], 'time: unknown unit "d" in duration "1d"'],
    ['time_parse', ['1', 'x'], '"x" is not a number of seconds'],
    ['time_parse', ['1', '99999999999999'], 'is not a number of seconds'],
  ])('%s(%j) fails', (name, args, message) => {
    expect(() => call(name, args)).toThrow(message);
  });
});

describe('encoding', () => {
  it('hashes as every other implementation does', () => {
    fc.assert(
      fc.property(anyText(100), (text) => {
        for (const name of ['md5', 'sha1', 'sha256']) {
          expect(call(name, [text])).toBe(createHash(name).update(text, 'utf8').digest('hex'));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('encodes base64 and back', () => {
    expect(call('base64_encode', ['ü😀'])).toBe('w7zwn5iA');
    expect(call('base64_decode', ['w7zwn5iA'])).toBe('ü😀');
    expect(call('base64_decode', ['aG\nk=\r\n'])).toBe('hi');
  });

  test.each(['aGk', 'a', 'aG k=', '=', 'aGk===', 'a-_='])('refuses %j as base64', (text) => {
    expect(() => call('base64_decode', [text])).toThrow(/illegal base64 data at input byte \d/);
  });

  test.each<[string, Json]>([
    ['a: 1', { a: 1 }],
    ['a: yes\nb: "yes"\nc: ~', { a: true, b: 'yes', c: null }],
    ['- 0x1F\n- 1e3', [31, 1000]],
    ['&a [1]', [1]],
    ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    ['', null],
    ['a: 1\n---\nb: 2', { a: 1 }],
  ])('parse_yaml(%j) is %j', (text, value) => {
    expect(call('parse_yaml', [text])).toEqual(value);
  });

  test.each([
    ['a: b: c', /yaml: /],
    ['&a [1, *a]', /contains itself/],
    ['? [a]: b', /yaml: /],
    ['['.repeat(300), /deeper than 250/],
    [
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(10)}]\nc: &c [${'*b,'.repeat(10)}]\nd: [${'*c,'.repeat(10)}]`,
      /alias/,
    ],
  ])('parse_yaml refuses %j', (text, message) => {
    expect(() => call('parse_yaml', [text])).toThrow(message);
  });

  it('parses JSON or says that it cannot', () => {
    expect(call('parse_json', ['[1,{"a":null}]'])).toEqual([1, { a: null }]);
    expect(() => call('parse_json', ['{'])).toThrow("JMESPath function 'parse_json': ");
  });
});

describe('network', () => {
  test.each([
    ['http://10.0.0.1', false],
    ['http://8.8.8.8', true],
    ['http://172.16.0.1', false],
    ['http://172.32.0.1', true],
    ['http://192.168.1.1:80/x', false],
    ['http://169.254.169.254', false],
    ['http://user:p@127.0.0.1/', false],
    ['https://[::1]:8080/x', false],
    ['https://[fd00::1]', false],
    ['https://[fe80::1%25eth0]', false],
    ['https://[::ffff:10.0.0.1]', false],
    ['https://[2001:db8::1]', true],
  ])('is_external_url(%j) is %s', (url, expected) => {
    expect(call('is_external_url', [url])).toBe(expected);
  });

  it('resolves names to addresses; one internal address makes the name internal', () => {
    const hosts = new Map([
      ['in.example', ['8.8.8.8', '10.0.0.1']],
      ['out.example', ['8.8.8.8', '2001:db8::1']],
    ]);
    const environment = { resolveHost: (host: string) => hosts.get(host) };
    expect(call('is_external_url', ['https://in.example/x'], environment)).toBe(false);
    expect(call('is_external_url', ['https://out.example:1'], environment)).toBe(true);
    expect(() => call('is_external_url', ['https://no.example'], environment)).toThrow(
      'lookup no.example: no such host',
    );
    expect(() => call('is_external_url', ['https://out.example'])).toThrow('no such host');
    expect(() => call('is_external_url', ['out.example'], environment)).toThrow('no such host');
  });

  test.each([
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:db8::1', '20010db8000000000000000000000001'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1::8', '00010000000000000000000000000008'],
    ['1:0:3::', '00010000000300000000000000000000'],
    ['10.0.0.1', '00000000000000000000ffff0a000001'],
  ])('reads the address %s', (text, bytes) => {
    expect(Buffer.from(parseAddress(text) ?? []).toString('hex')).toBe(bytes);
  });

  test.each(['', '1.2.3', '01.2.3.4', '256.1.1.1', '1::2::3', '1:2:3:4:5:6:7', '12345::', 'g::', 'a.b.c.d'])(
    '%j is no address',
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );

  it('normalizes images', () => {
    expect(call('image_normalize', ['localhost:5000/a/b'])).toBe('localhost:5000/a/b:latest');
    expect(() => call('image_normalize', ['A B'])).toThrow(
      "JMESPath function 'image_normalize': bad image: A B",
    );
  });
});

describe('random', () => {
  test.each([
    '[a-c]{5}',
    '[0-9a-f]{8}-x',
    '(foo|bar)+?',
    '\\d{2,4}\\.[[:upper:]]\\w*',
    'a?b{0}c{3,}',
    '(?P<n>x)(?:y|z)$',
    '^[^a-y][\\]\\-_]$',
    '.[a\\dz]\\x41\\n\\S\\D',
    '[-a][a-]',
  ])('/%s/ yields what it matches', (pattern) => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (stream) => {
        const random = (): number => stream.next().value ?? 0;
        const text = call('random', [pattern], { random });
        expect(compileRegexp(`^(?:${pattern})$`).matcher(String(text)).find()).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('uses the whole range', () => {
    expect(call('random', ['[a-c]{3}'], { random: () => 0 })).toBe('aaa');
    expect(call('random', ['[a-c]{3}'], { random: () => 0.999 })).toBe('ccc');
  });

  test.each([
    ['', 'no pattern provided'],
    ['(', 'error parsing regexp'],
    ['(a{999}|b)*', 'the string is longer than'],
    ['\\pL', 'cannot generate a string for'],
  ])('refuses %j', (pattern, message) => {
    expect(() => call('random', [pattern], { random: () => 0.4 })).toThrow(message);
  });
});
