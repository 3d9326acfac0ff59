/** The host of a URL, without user, port and brackets; empty for a URL without a host. */
export function hostOfUrl(url: string): string {
  const authority = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return bracketed ?? host.replace(/:\d*$/, '');
}

/** Sixteen bytes, IPv4 as mapped IPv6; undefined for an invalid address. */
export function parseAddress(text: string): readonly number[] | undefined {
  const withoutZone = text.replace(/%.*$/, '');
  if (!withoutZone.includes(':')) return text === withoutZone ? mapped(parseV4(text)) : undefined;
  const tail = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(withoutZone)?.[1];
  if (tail === undefined) return parseV6(withoutZone);
  const v4 = parseV4(tail);
  if (v4 === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = v4;
  const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  return parseV6(withoutZone.slice(0, -tail.length) + groups);
}

function mapped(v4: readonly number[] | undefined): readonly number[] | undefined {
  return v4 && [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...v4];
}

function parseV4(text: string): readonly number[] | undefined {
  if (!/^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.some((byte) => byte > 255) ? undefined : bytes;
}

function parseV6(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

export function isInternalAddress(bytes: readonly number[]): boolean {
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMapped) return isInternalV4(bytes[12] ?? 0, bytes[13] ?? 0);
  const [first = 0, second = 0] = bytes;
  const isLoopback = bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1;
  const isPrivate = (first & 0xfe) === 0xfc;
  const isLinkLocal = first === 0xfe && (second & 0xc0) === 0x80;
  return isLoopback || isPrivate || isLinkLocal;
}

function isInternalV4(first: number, second: number): boolean {
  if (first === 10 || first === 127) return true;
  if (first === 172) return (second & 0xf0) === 16;
  return (first === 192 && second === 168) || (first === 169 && second === 254);
}
