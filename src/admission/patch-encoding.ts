const ASCII = /^[\x20-\x7e]*$/;

/** Base64 of the patch. */
export function encodePatch(text: string): string {
  // Most patches are plain ASCII, which needs no bytes made of it first.
  if (ASCII.test(text)) return btoa(text);
  // Browsers have no Buffer; where there is one it is ten times faster.
  return typeof Buffer === 'undefined' ? encodeAnywhere(text) : Buffer.from(text).toString('base64');
}

export function encodeAnywhere(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
