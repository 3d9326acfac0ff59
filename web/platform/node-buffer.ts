const encoder = new TextEncoder();
// As in Node, a byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

class Bytes extends Uint8Array<ArrayBuffer> {
  override toString(encoding: 'utf8' | 'base64' = 'utf8'): string {
    if (encoding === 'utf8') return decoder.decode(this);
    let binary = '';
    for (const byte of this) binary += String.fromCharCode(byte);
    return btoa(binary);
  }
}

/** Replaces the parts of `node:buffer` that the layers in the page use. */
export const Buffer = {
  from(source: string | ArrayLike<number>): Bytes {
    const from = typeof source === 'string' ? encoder.encode(source) : source;
    const bytes = new Bytes(new ArrayBuffer(from.length));
    bytes.set(from);
    return bytes;
  },

  byteLength: (text: string): number => encoder.encode(text).length,

  compare(left: Uint8Array, right: Uint8Array): number {
    const end = Math.min(left.length, right.length);
    for (let at = 0; at < end; at++) {
      const order = (left[at] ?? 0) - (right[at] ?? 0);
      if (order !== 0) return Math.sign(order);
    }
    return Math.sign(left.length - right.length);
  },
};

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
