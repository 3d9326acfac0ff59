import { type Library, overload } from '../types/environment.ts';
import { CelError } from '../value/error.ts';
import { setField } from '../value/map.ts';
import { Opaque, type Value, type ValueObject } from '../value/value.ts';

interface Url {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const typeName = 'kubernetes.URL';

/** Go's `url.Parse` of what its `url.ParseRequestURI` accepts: an absolute URL or an absolute path. Returns what is wrong as a string. */
export function parseUrl(text: string): Url | string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses control characters.
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  const colon = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)?.[0] ?? '';
  if (text.startsWith(':')) return 'missing protocol scheme';
  const scheme = colon.slice(0, -1).toLowerCase();
  const rest = text.slice(colon.length);
  if (!rest.startsWith('/')) {
    if (text === '*') return { scheme, host: '', path: '*', query: '' };
    return scheme === '' ? 'invalid URI for request' : { scheme, host: '', path: '', query: queryOf(rest) };
  }
  const hasAuthority = scheme !== '' || !rest.startsWith('///');
  const [, authority = '', tail = ''] = (hasAuthority ? /^\/\/([^/?#]*)(.*)$/s.exec(rest) : null) ?? [
    '',
    '',
    rest,
  ];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const path = tail.replace(/[?#].*$/s, '');
  const wrong = hostError(host) ?? escapeError(path);
  return wrong ?? { scheme, host: host.replace(/%25/g, '%'), path, query: queryOf(tail) };
}

/** Whether the text is a host with an optional port, as it stands in a URL. */
export function isAuthority(text: string): boolean {
  return hostError(text) === undefined && !text.includes('%');
}

function queryOf(text: string): string {
  return /^[^?#]*\?([^#]*)/s.exec(text)?.[1] ?? '';
}

function hostError(host: string): string | undefined {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) return `missing ']' in host`;
    const port = host.slice(end + 1);
    return port === '' || /^:\d*$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`;
  }
  const bad = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${JSON.stringify(bad)} in host name`;
  // Of ASCII characters, only the percent sign may be escaped.
  const wrong = /%(?!25|[89a-f][0-9a-f]).{0,2}/is.exec(host)?.[0];
  if (wrong !== undefined) return `invalid URL escape ${JSON.stringify(wrong)}`;
  const port = /:[^:]*$/.exec(host)?.[0];
  return port === undefined || /^:\d*$/.test(port)
    ? undefined
    : `invalid port ${JSON.stringify(port)} after host`;
}

function escapeError(path: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(path)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${JSON.stringify(bad)}`;
}

function url(text: string): Opaque<Url> {
  const parsed = parseUrl(text);
  if (typeof parsed === 'string') {
    throw new CelError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${parsed}`,
    );
  }
  return new Opaque(typeName, parsed, text);
}

const encoder = new TextEncoder();

/** The path as written when it is a valid encoding, else with the other characters escaped. */
function escapedPath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@[\]/%]/gu, (character) =>
    Array.from(
      encoder.encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  );
}

function queryValues(query: string): ValueObject {
  const result: Record<string, Value[]> = {};
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equal = part.indexOf('=');
    const name = unescapeQuery(equal < 0 ? part : part.slice(0, equal));
    const value = unescapeQuery(equal < 0 ? '' : part.slice(equal + 1));
    if (name === undefined || value === undefined) continue;
    if (Object.hasOwn(result, name)) result[name]?.push(value);
    else setField(result, name, [value]);
  }
  return result;
}

function unescapeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const type = `struct ${typeName}`;

export const urlLibrary: Library = {
  functions: [
    overload('url', `(string) -> ${type}`, url),
    overload('isURL', '(string) -> bool', (text: string) => typeof parseUrl(text) !== 'string'),
    overload('getScheme', `${type}.() -> string`, ({ data }: Opaque<Url>) => data.scheme),
    overload('getHost', `${type}.() -> string`, ({ data }: Opaque<Url>) => data.host),
    overload('getHostname', `${type}.() -> string`, ({ data }: Opaque<Url>) =>
      data.host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'),
    ),
    overload(
      'getPort',
      `${type}.() -> string`,
      ({ data }: Opaque<Url>) => /:(\d*)$/.exec(data.host)?.[1] ?? '',
    ),
    overload('getEscapedPath', `${type}.() -> string`, ({ data }: Opaque<Url>) => escapedPath(data.path)),
    overload('getQuery', `${type}.() -> map(string, list(string))`, ({ data }: Opaque<Url>) =>
      queryValues(data.query),
    ),
  ],
};
