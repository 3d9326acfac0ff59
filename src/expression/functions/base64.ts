import { spendBytes, spendSteps } from '../../json/budget.ts';

/** Decodes standard base64 with padding like Go: line breaks are skipped, other invalid characters are errors. */
export function decodeBase64(text: string): Uint8Array {
  spendSteps(text.length);
  spendBytes(text.length * 3);
  const compact = text.replace(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact)) {
    throw new Error(`illegal base64 data at input byte ${firstIllegal(text)}`);
  }
  return Uint8Array.from(atob(compact), (character) => character.charCodeAt(0));
}

function firstIllegal(text: string): number {
  const position = text.search(/[^A-Za-z0-9+/\r\n]/);
  return position < 0 ? text.length : position;
}

export function encodeBase64(bytes: Uint8Array): string {
  spendSteps(bytes.length);
  spendBytes(bytes.length * 3);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
