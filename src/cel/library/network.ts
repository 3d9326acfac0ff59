import { parseAddress } from '../../expression/functions/ip-address.ts';
import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import { structType } from '../types/type.ts';
import { CelError } from '../value/error.ts';
import { Opaque } from '../value/value.ts';

/** Four or sixteen bytes. */
type Address = readonly number[];

interface Prefix {
  readonly address: Address;
  readonly bits: number;
}

const addressType = 'net.IP';
const prefixType = 'net.CIDR';

/** The bytes of an address. Returns what is wrong as a string. */
function readAddress(text: string): Address | string {
  const bytes = parseAddress(text);
  if (bytes === undefined) {
    const reason = /[.:]/.test(text) ? 'unexpected character' : 'unable to parse IP';
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): ${reason}`;
  }
  if (text.includes('%')) return `IP address ${JSON.stringify(text)} with zone value is not allowed`;
  if (!text.includes(':')) return bytes.slice(12);
  return isMapped(bytes) ? `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` : bytes;
}

function isMapped(bytes: Address): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
}

function readPrefix(text: string): Prefix | string {
  const failed = 'network address parse error during conversion from string';
  const [, head = '', digits = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = digits === '' ? `netip.ParsePrefix(${JSON.stringify(text)}): no '/'` : readAddress(head);
  if (typeof address === 'string') return `${failed}: ${address}`;
  const bits = Number(digits);
  if (bits > address.length * 8) {
    return `${failed}: netip.ParsePrefix(${JSON.stringify(text)}): prefix length out of range`;
  }
  return { address, bits };
}

/** The canonical form: the longest run of zero groups is `::`. */
function formatAddress(address: Address): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((address[index * 2] ?? 0) << 8) | (address[index * 2 + 1] ?? 0)).toString(16),
  );
  const text = groups.join(':');
  const [longest = ''] = (text.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? []).sort((a, b) => b.length - a.length);
  const zeros = longest.replace(/^:/, '');
  if (zeros === '') return text;
  const start = text.indexOf(longest);
  const end = start + longest.length;
  return `${text.slice(0, start)}::${text.slice(end).replace(/^:/, '')}`;
}

function ip(address: Address): Opaque<Address> {
  return new Opaque(addressType, address, formatAddress(address));
}

function cidr(prefix: Prefix): Opaque<Prefix> {
  return new Opaque(prefixType, prefix, formatPrefix(prefix));
}

function formatPrefix({ address, bits }: Prefix): string {
  return `${formatAddress(address)}/${bits}`;
}

function parse<Data extends object>(read: (text: string) => Data | string): (text: string) => Data {
  return (text) => {
    const result = read(text);
    if (typeof result === 'string') throw new CelError(result);
    return result;
  };
}

const parseIp = parse(readAddress);
const parseCidr = parse(readPrefix);

/** The first `bits` bits of an address, the others zero. */
function mask(address: Address, bits: number): Address {
  return address.map((byte, index) => {
    const kept = Math.min(Math.max(bits - index * 8, 0), 8);
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

function contains({ address, bits }: Prefix, other: Address): boolean {
  if (address.length !== other.length) return false;
  const [a, b] = [mask(address, bits), mask(other, bits)];
  return a.every((byte, index) => byte === b[index]);
}

function containsPrefix(prefix: Prefix, other: Prefix): boolean {
  return prefix.bits <= other.bits && contains(prefix, other.address);
}

function isAll(address: Address, start: number, end: number, byte: number): boolean {
  return address.slice(start, end).every((value) => value === byte);
}

function isUnspecified(address: Address): boolean {
  return isAll(address, 0, address.length, 0);
}

function isLoopback(address: Address): boolean {
  return address.length === 4 ? address[0] === 127 : isAll(address, 0, 15, 0) && address[15] === 1;
}

function isMulticast(address: Address): boolean {
  const [first = 0] = address;
  return address.length === 4 ? (first & 0xf0) === 0xe0 : first === 0xff;
}

function isLinkLocalMulticast(address: Address): boolean {
  const [first = 0, second = 0, third] = address;
  return address.length === 4
    ? first === 224 && second === 0 && third === 0
    : first === 0xff && (second & 0x0f) === 0x02;
}

function isLinkLocalUnicast(address: Address): boolean {
  const [first = 0, second = 0] = address;
  return address.length === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
}

function isGlobalUnicast(address: Address): boolean {
  if (address.length === 4 && isAll(address, 0, 4, 255)) return false;
  return (
    !isUnspecified(address) && !isLoopback(address) && !isMulticast(address) && !isLinkLocalUnicast(address)
  );
}

const ipType = `struct ${addressType}`;
const cidrType = `struct ${prefixType}`;

function addressTest(name: string, holds: (address: Address) => boolean): FunctionDeclaration {
  return overload(name, `${ipType}.() -> bool`, ({ data }: Opaque<Address>) => holds(data));
}

export const networkLibrary: Library = {
  types: [structType(addressType), structType(prefixType)],
  functions: [
    overload('ip', `(string) -> ${ipType}`, (text: string) => ip(parseIp(text))),
    overload('isIP', '(string) -> bool', (text: string) => typeof readAddress(text) !== 'string'),
    overload('ip.isCanonical', '(string) -> bool', (text: string) => formatAddress(parseIp(text)) === text),
    overload('string', `(${ipType}) -> string`, ({ data }: Opaque<Address>) => formatAddress(data)),
    overload('family', `${ipType}.() -> int`, ({ data }: Opaque<Address>) => (data.length === 4 ? 4 : 6)),
    addressTest('isUnspecified', isUnspecified),
    addressTest('isLoopback', isLoopback),
    addressTest('isLinkLocalMulticast', isLinkLocalMulticast),
    addressTest('isLinkLocalUnicast', isLinkLocalUnicast),
    addressTest('isGlobalUnicast', isGlobalUnicast),
    overload('cidr', `(string) -> ${cidrType}`, (text: string) => cidr(parseCidr(text))),
    overload('isCIDR', '(string) -> bool', (text: string) => typeof readPrefix(text) !== 'string'),
    overload('string', `(${cidrType}) -> string`, ({ data }: Opaque<Prefix>) => formatPrefix(data)),
    overload('containsIP', `${cidrType}.(string) -> bool`, ({ data }: Opaque<Prefix>, text: string) =>
      contains(data, parseIp(text)),
    ),
    overload(
      'containsIP',
      `${cidrType}.(${ipType}) -> bool`,
      ({ data }: Opaque<Prefix>, other: Opaque<Address>) => contains(data, other.data),
    ),
    overload('containsCIDR', `${cidrType}.(string) -> bool`, ({ data }: Opaque<Prefix>, text: string) =>
      containsPrefix(data, parseCidr(text)),
    ),
    overload(
      'containsCIDR',
      `${cidrType}.(${cidrType}) -> bool`,
      ({ data }: Opaque<Prefix>, other: Opaque<Prefix>) => containsPrefix(data, other.data),
    ),
    overload('ip', `${cidrType}.() -> ${ipType}`, ({ data }: Opaque<Prefix>) => ip(data.address)),
    overload('prefixLength', `${cidrType}.() -> int`, ({ data }: Opaque<Prefix>) => data.bits),
    overload('masked', `${cidrType}.() -> ${cidrType}`, ({ data }: Opaque<Prefix>) =>
      cidr({ address: mask(data.address, data.bits), bits: data.bits }),
    ),
  ],
};
