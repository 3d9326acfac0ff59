/** The size of a JSON document as its parser will see it. */
export interface JsonExtent {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Values and keys. */
  readonly tokens: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Counts the tokens and the depth of a JSON document without parsing it, so that a document that would cost the parser
 * seconds or hundreds of megabytes is refused first. Invalid JSON gets some extent; the parser reports it.
 */
export function scanJson(bytes: Uint8Array): JsonExtent {
  let depth = 0;
  let deepest = 0;
  let tokens = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at + 1);
        break;
      case openBracket:
      case openBrace:
        depth += 1;
        tokens += 1;
        if (depth > deepest) deepest = depth;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case comma:
      case colon:
        tokens += 1;
        break;
    }
  }
  return { depth: deepest, tokens };
}

/** The index of the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at;
  }
  return bytes.length;
}
