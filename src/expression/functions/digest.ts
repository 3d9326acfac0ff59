/** MD5, SHA-1 and SHA-256 over bytes, in hexadecimal; the pure layers cannot use node:crypto. */

const rotateLeft = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));
const rotateRight = (value: number, bits: number): number => (value >>> bits) | (value << (32 - bits));

/** The message with its padding and length in bits, 64 bytes a block. */
function pad(message: Uint8Array, littleEndian: boolean): DataView {
  const padded = new Uint8Array(((message.length + 72) >> 6) << 6);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  const high = Math.floor(message.length / 0x20000000);
  const low = (message.length << 3) >>> 0;
  view.setUint32(padded.length - 8, littleEndian ? low : high, littleEndian);
  view.setUint32(padded.length - 4, littleEndian ? high : low, littleEndian);
  return view;
}

function hexadecimal(words: Int32Array, littleEndian: boolean): string {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => {
    view.setInt32(index * 4, word, littleEndian);
  });
  return Array.from(new Uint8Array(view.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const md5Shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const md5Constants = Int32Array.from(
  { length: 64 },
  (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0,
);

export function md5(message: Uint8Array): string {
  const view = pad(message, true);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    let [a = 0, b = 0, c = 0, d = 0] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mix =
        round === 0
          ? (b & c) | (~b & d)
          : round === 1
            ? (d & b) | (~d & c)
            : round === 2
              ? b ^ c ^ d
              : c ^ (b | ~d);
      const word = round === 0 ? i : round === 1 ? 5 * i + 1 : round === 2 ? 3 * i + 5 : 7 * i;
      const sum = a + mix + (md5Constants[i] ?? 0) + view.getInt32(offset + (word & 15) * 4, true);
      const shift = md5Shifts[round * 4 + (i & 3)] ?? 0;
      [a, d, c, b] = [d, c, b, (b + rotateLeft(sum | 0, shift)) | 0];
    }
    addInto(state, [a, b, c, d]);
  }
  return hexadecimal(state, true);
}

export function sha1(message: Uint8Array): string {
  const view = pad(message, false);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Int32Array(80);
  const at = (index: number): number => words[index] ?? 0;
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + i * 4);
    for (let i = 16; i < 80; i++) words[i] = rotateLeft(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1);
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    for (let i = 0; i < 80; i++) {
      const [mix, constant] = sha1Round(Math.floor(i / 20), b, c, d);
      const next = (rotateLeft(a, 5) + mix + e + constant + at(i)) | 0;
      [e, d, c, b, a] = [d, c, rotateLeft(b, 30), a, next];
    }
    addInto(state, [a, b, c, d, e]);
  }
  return hexadecimal(state, false);
}

function sha1Round(round: number, b: number, c: number, d: number): readonly [number, number] {
  if (round === 0) return [(b & c) | (~b & d), 0x5a827999];
  if (round === 2) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
  return [b ^ c ^ d, round === 1 ? 0x6ed9eba1 : 0xca62c1d6];
}

const primes = Array.from({ length: 312 }, (_, i) => i).filter(
  (n) =>
    n > 1 &&
    !Array.from({ length: Math.floor(Math.sqrt(n)) }, (_, i) => i + 1).some((m) => m > 1 && n % m === 0),
);
/** The first 32 bits of the fractional part of a root. */
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
const sha256Constants = Int32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)));
const sha256Start = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

export function sha256(message: Uint8Array): string {
  const view = pad(message, false);
  const state = sha256Start.slice();
  const words = new Int32Array(64);
  const at = (index: number): number => words[index] ?? 0;
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + i * 4);
    for (let i = 16; i < 64; i++) {
      const [x, y] = [at(i - 15), at(i - 2)];
      const small = rotateRight(x, 7) ^ rotateRight(x, 18) ^ (x >>> 3);
      const large = rotateRight(y, 17) ^ rotateRight(y, 19) ^ (y >>> 10);
      words[i] = at(i - 16) + small + at(i - 7) + large;
    }
    addInto(state, sha256Block(state, words));
  }
  return hexadecimal(state, false);
}

function sha256Block(state: Int32Array, words: Int32Array): readonly number[] {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const high = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const first = (h + high + ((e & f) ^ (~e & g)) + (sha256Constants[i] ?? 0) + (words[i] ?? 0)) | 0;
    const low = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  return [a, b, c, d, e, f, g, h];
}

function addInto(state: Int32Array, words: readonly number[]): void {
  words.forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word;
  });
}
