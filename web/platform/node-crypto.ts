import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Replaces `node:crypto` in the page: the hashes of generated names and labels. */
export function createHash(algorithm: string): Hash {
  if (algorithm !== 'sha256') throw new Error(`no hash ${algorithm} in a browser`);
  const hash = sha256.create();
  const self: Hash = {
    update(data) {
      hash.update(typeof data === 'string' ? new TextEncoder().encode(data) : data);
      return self;
    },
    digest: (encoding) => {
      const bytes = hash.digest();
      if (encoding === 'hex') return bytesToHex(bytes);
      return btoa(String.fromCharCode(...bytes));
    },
  };
  return self;
}

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(encoding: 'hex' | 'base64'): string;
}
