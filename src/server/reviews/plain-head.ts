/** The head of a request that needs no second look: a POST of JSON whose length is told. */
export interface PlainHead {
  /** Path and query. */
  readonly target: string;
  /** Of the body, in bytes. */
  readonly length: number;
}

const requestLine = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const headerLine = /^([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
const wholeNumber = /^\d{1,9}$/;

/** Headers that change how the rest of a connection is read, or ask for an answer that is out of the ordinary. */
const unusual = new Set(['transfer-encoding', 'content-encoding', 'expect', 'upgrade']);

/**
 * Reads a head, without the empty line at its end. Undefined for all but the strictest form of what API servers
 * send: to be lenient with HTTP is left to a complete parser.
 */
export function readPlainHead(text: string): PlainHead | undefined {
  const lines = text.split('\r\n');
  const target = requestLine.exec(lines[0] ?? '')?.[1];
  if (target === undefined) return undefined;
  const headers = new Map<string, string>();
  for (let at = 1; at < lines.length; at += 1) {
    const [isHeader, name = '', value = ''] = headerLine.exec(lines[at] ?? '') ?? [];
    const key = name.toLowerCase();
    if (isHeader === undefined || headers.has(key) || unusual.has(key)) return undefined;
    headers.set(key, value);
  }
  const length = headers.get('content-length') ?? '';
  const connection = headers.get('connection')?.toLowerCase() ?? 'keep-alive';
  const isPlain =
    headers.has('host') &&
    headers.get('content-type') === 'application/json' &&
    wholeNumber.test(length) &&
    connection === 'keep-alive';
  return isPlain ? { target, length: Number(length) } : undefined;
}
