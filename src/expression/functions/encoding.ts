import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { spendBytes, spendSteps } from '../../json/budget.ts';
import { parseJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { yamlDepthBound } from '../../yaml/depth.ts';
import { parseYamlText } from '../../yaml/parse-text.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { defineFunctions } from './define.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const encodingFunctions = defineFunctions({
  base64_encode: {
    parameters: ['string'],
    returns: 'string',
    description: 'Encodes a string as base64.',
    example: { expression: "base64_encode('hi')", result: 'aGk=' },
    call: (args) => encodeBase64(encoder.encode(args.text(0))),
  },
  base64_decode: {
    parameters: ['string'],
    returns: 'string',
    description: 'Decodes base64 with padding.',
    example: { expression: "base64_decode('aGk=')", result: 'hi' },
    call: (args) => args.attempt(() => decoder.decode(decodeBase64(args.text(0)))),
  },
  parse_json: {
    parameters: ['string'],
    returns: 'any',
    description: 'Parses JSON.',
    example: { expression: 'parse_json(\'{"a":1}\')', result: { a: 1 } },
    call: (args) => args.attempt(() => parseJsonText(args.text(0))),
  },
  parse_yaml: {
    parameters: ['string'],
    returns: 'any',
    description: 'Parses YAML.',
    example: { expression: "parse_yaml('a: 1')", result: { a: 1 } },
    call: (args) => args.attempt(() => parseYamlText(args.text(0))),
  },
  sha256: {
    parameters: ['string'],
    returns: 'string',
    description: 'The SHA-256 hash in hexadecimal.',
    example: {
      expression: "sha256('a')",
      result: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
    },
    call: (args) => hash(sha256, args.text(0)),
  },
  sha1: {
    parameters: ['string'],
    returns: 'string',
    description: 'The SHA-1 hash in hexadecimal.',
    example: { expression: "sha1('a')", result: '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8' },
    call: (args) => hash(sha1, args.text(0)),
  },
  md5: {
    parameters: ['string'],
    returns: 'string',
    description: 'The MD5 hash in hexadecimal.',
    example: { expression: "md5('a')", result: '0cc175b9c0f1b6a831c399e269772661' },
    call: (args) => hash(md5, args.text(0)),
  },
});

function hash(digest: (bytes: Uint8Array) => Uint8Array, text: string): string {
  spendSteps(text.length >> 2);
  spendBytes(text.length * 3);
  return bytesToHex(digest(encoder.encode(text)));
}

/** More levels than any object has. The parser of V8 takes a microsecond for each. */
const deepestJson = 5_000;

/** Parses JSON from an expression. */
export function parseJsonText(text: string): Json {
  spendSteps(text.length);
  // `{}` takes 28 bytes once it is parsed.
  spendBytes(text.length * 14);
  if (yamlDepthBound(text) > deepestJson) {
    throw new Error(`the JSON is nested more than ${deepestJson} levels deep`);
  }
  return parseJson(text);
}
