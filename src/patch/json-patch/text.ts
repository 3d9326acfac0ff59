import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type Scalar } from 'yaml';
import { findVariables } from '../../expression/template/tokens.ts';
import { yamlDepthBound } from '../../yaml/depth.ts';
import { NonFiniteNumberError, resolveYamlScalar } from '../../yaml/scalar.ts';
import type { PatchEntry, PatchNode } from './node.ts';

/** A patch string that cannot be parsed. */
export class PatchTextError extends Error {
  override readonly name = 'PatchTextError';
}

/**
 * Parses `patchesJson6902`. Kyverno substitutes variables before it parses. Here each `{{ }}` is a placeholder while
 * the string is parsed, once, at load, so the value of a variable can never become structure.
 */
export function parsePatchText(text: string): PatchNode {
  const { marked, restore } = hideVariables(text);
  return toNode(parseYaml(marked), restore);
}

/** The same for a rendered string, which is not searched for variables. */
export function parseRenderedPatch(text: string): PatchNode {
  return toNode(parseYaml(text), () => undefined);
}

/** More levels than any patch has, and far fewer than the parser can handle. */
export const deepestText = 500;
const mostValues = 10_000;

function parseYaml(text: string): { root: Node | null; resolve: (alias: Node) => Node | undefined } {
  if (yamlDepthBound(text) > deepestText) {
    throw new PatchTextError(`the patch is nested (or indented) more than ${deepestText} levels deep`);
  }
  const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    const [message = ''] = error.message.split(/ at line \d+/);
    throw new PatchTextError(`${message} (line ${error.linePos?.[0].line ?? 1} of the patch)`);
  }
  const resolve = (node: Node) => (isAlias(node) ? node.resolve(document) : undefined);
  return { root: document.contents, resolve };
}

/** Restores the `{{ }}` of a scalar; undefined when it contains none. */
type Restore = (scalar: string) => string | undefined;

function hideVariables(text: string): { marked: string; restore: Restore } {
  const hidden = [...findVariables(text).map(({ start, end }) => ({ start, end })), ...escapedBraces(text)];
  if (hidden.length === 0) return { marked: text, restore: () => undefined };
  const mark = unusedMark(text);
  const sources: string[] = [];
  let marked = '';
  let position = 0;
  for (const { start, end } of hidden.toSorted((a, b) => a.start - b.start)) {
    if (start < position) continue;
    marked += `${text.slice(position, start)}${mark}${sources.length}${mark}`;
    sources.push(text.slice(start, end));
    position = end;
  }
  marked += text.slice(position);
  const placeholder = new RegExp(`${mark}(\\d+)${mark}`, 'g');
  const restore: Restore = (scalar) =>
    scalar.includes(mark)
      ? scalar.replace(placeholder, (_, index: string) => sources[Number(index)] ?? '')
      : undefined;
  return { marked, restore };
}

/** `\{{` stands for literal braces. YAML does not allow that escape in double quotes. */
function escapedBraces(text: string): { start: number; end: number }[] {
  return [...text.matchAll(/\\\{\{/g)].map((match) => ({ start: match.index, end: match.index + 3 }));
}

/** Letters only, so that it is valid wherever YAML allows a string. */
function unusedMark(text: string): string {
  let mark = 'kymeraVariable';
  while (text.includes(mark)) mark += 'X';
  return mark;
}

function toNode(document: ReturnType<typeof parseYaml>, restore: Restore): PatchNode {
  let values = 0;

  function convert(node: Node | null, depth: number): PatchNode {
    if (++values > mostValues || depth > deepestText) {
      throw new PatchTextError(`the patch has more than ${mostValues} values or ${deepestText} levels`);
    }
    if (node === null) return { type: 'constant', value: null };
    if (isScalar(node)) return convertScalar(node, restore);
    if (isSeq(node)) {
      return { type: 'list', items: node.items.map((item) => convert(item as Node | null, depth + 1)) };
    }
    if (isMap(node)) {
      return {
        type: 'map',
        entries: node.items.map((pair) => ({
          key: convertKey(pair.key as Node | null, restore),
          value: convert(pair.value as Node | null, depth + 1),
        })),
      };
    }
    const target = document.resolve(node);
    if (target === undefined) throw new PatchTextError('an alias (*) refers to an unknown anchor (&)');
    return convert(target, depth + 1);
  }

  return convert(document.root, 0);
}

function convertKey(node: Node | null, restore: Restore): PatchEntry['key'] {
  if (node === null || !isScalar(node)) throw new PatchTextError('a key must be a string');
  const text = String(node.value ?? '');
  if (text === '<<' && node.type === 'PLAIN')
    throw new PatchTextError('merge keys (<<) cannot be used in a patch');
  const template = restore(text);
  if (template !== undefined) return { type: 'template', text: template, reading: 'text' };
  return { type: 'constant', value: text };
}

function convertScalar(node: Scalar, restore: Restore): PatchNode {
  const text = String(node.value ?? '');
  const isPlain = node.type === 'PLAIN' && node.tag !== 'tag:yaml.org,2002:str' && node.tag !== '!';
  const template = restore(text);
  if (template !== undefined)
    return { type: 'template', text: template, reading: isPlain ? 'plain' : 'text' };
  if (!isPlain) return { type: 'constant', value: text };
  try {
    return { type: 'constant', value: resolveYamlScalar(text) };
  } catch (error) {
    if (!(error instanceof NonFiniteNumberError)) throw error;
    throw new PatchTextError(error.message);
  }
}
