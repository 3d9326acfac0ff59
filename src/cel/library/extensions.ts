import { decodeBase64, encodeBase64 } from '../../expression/functions/base64.ts';
import { type Library, overload } from '../types/environment.ts';
import { attempt } from '../value/error.ts';
import { Bytes } from '../value/value.ts';

/** `cel.bind(name, value, expression)`. */
export const bindingsLibrary: Library = { macros: ['bind/3'] };

/** Padding may be missing. */
function decode(text: string): Bytes {
  const padded = text.includes('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  return attempt(() => new Bytes(decodeBase64(padded)));
}

export const encodersLibrary: Library = {
  functions: [
    overload('base64.encode', '(bytes) -> string', (bytes: Bytes) => encodeBase64(bytes.data)),
    overload('base64.decode', '(string) -> bytes', decode),
  ],
};
