import type { PatchOperation } from '../json/patch-operation.ts';

const ASCII = /^[\x20-\x7e]*$/;

/** Base64 of the patch's JSON, by what both Node and browsers have. */
export function encodePatch(patch: readonly PatchOperation[]): string {
  const text = JSON.stringify(patch);
  if (ASCII.test(text)) return btoa(text);
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
