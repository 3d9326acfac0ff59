/** One element of ASN.1 in DER. */
export interface Der {
  readonly tag: number;
  /** With tag and length. */
  readonly raw: Uint8Array;
  readonly content: Uint8Array;
}

export const derTag = { integer: 2, sequence: 0x30, set: 0x31, boolean: 1, octets: 4 } as const;

/** A context-specific tag, as in `[0] …`. */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number;
}

export class DerError extends Error {
  override readonly name = 'DerError';
}

/** All elements one behind the other. */
export function readDer(bytes: Uint8Array): readonly Der[] {
  const elements: Der[] = [];
  for (let position = 0; position < bytes.length; ) {
    const element = readOne(bytes, position);
    elements.push(element);
    position += element.raw.length;
  }
  return elements;
}

function readOne(bytes: Uint8Array, start: number): Der {
  const tag = bytes[start] ?? 0;
  const first = bytes[start + 1];
  if (first === undefined || (tag & 0x1f) === 0x1f) throw new DerError('malformed ASN.1');
  let [length, header] = [first, 2];
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError('malformed ASN.1 length');
    length = 0;
    for (const byte of bytes.subarray(start + 2, start + 2 + count)) length = length * 256 + byte;
    header += count;
  }
  const end = start + header + length;
  if (end > bytes.length) throw new DerError('truncated ASN.1');
  return { tag, raw: bytes.subarray(start, end), content: bytes.subarray(start + header, end) };
}

export function children(element: Der): readonly Der[] {
  return readDer(element.content);
}

/** The child at a place, which has to be there. */
export function child(elements: readonly Der[], index: number): Der {
  const element = elements[index];
  if (element === undefined) throw new DerError('missing ASN.1 element');
  return element;
}

export function readInteger(element: Der): bigint {
  const { content } = element;
  let value = 0n;
  for (const byte of content) value = (value << 8n) | BigInt(byte);
  return ((content[0] ?? 0) & 0x80) === 0 ? value : value - (1n << BigInt(content.length * 8));
}

export function readOid(element: Der): readonly number[] {
  const parts: number[] = [];
  let value = 0;
  for (const byte of element.content) {
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    if (parts.length === 0)
      parts.push(Math.min(Math.floor(value / 40), 2), value - 40 * Math.min(Math.floor(value / 40), 2));
    else parts.push(value);
    value = 0;
  }
  return parts;
}

/** The bytes of a bit string, without the count of unused bits. */
export function readBits(element: Der): Uint8Array {
  return element.content.subarray(1);
}

const bmpString = 30;
const latinString = 20;

export function readText(element: Der): string {
  if (element.tag === bmpString) return new TextDecoder('utf-16be').decode(element.content);
  if (element.tag === latinString) return String.fromCharCode(...element.content);
  return new TextDecoder().decode(element.content);
}

const utcTime = 23;

/** RFC 3339, as certificates are always in UTC. */
export function readTime(element: Der): string {
  const text = readText(element);
  const short = element.tag === utcTime;
  const full = short ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (match === null) throw new DerError('malformed time');
  const [, year, month, day, hour, minute, second] = match;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
