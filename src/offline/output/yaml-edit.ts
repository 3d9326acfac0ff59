import { type Document, isMap, isSeq, type Node, parseDocument } from 'yaml';
import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import { parsePointer } from '../../json/pointer.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { readYaml } from '../resource-documents.ts';

/**
 * Edits the source of a document so that the object `before` becomes `after`. Comments, quotes, the order of keys and line endings
 * are kept. When the source cannot be edited safely, the object is printed from scratch.
 */
export function editYaml(text: string, before: JsonObject, after: JsonObject): string {
  return withLineEndingsOf(text, editLines(text.replaceAll('\r\n', '\n'), before, after));
}

/** Windows line endings for a text that belongs to a source with such line endings. */
export function withLineEndingsOf(source: string, text: string): string {
  return source.includes('\r\n') ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}

function editLines(text: string, before: JsonObject, after: JsonObject): string {
  const [, head = '', body = ''] = /^((?:[ \t]*(?:#[^\n]*)?\n)*)([\s\S]*)$/.exec(text) ?? [];
  if (!/(?:^|\s)#/.test(body)) return head + writeYaml(after);
  const edited = edit(text, diff(before, after));
  return edited !== undefined && readsAs(edited, after) ? edited : head + writeYaml(after);
}

function edit(text: string, operations: readonly PatchOperation[]): string | undefined {
  const document = parseDocument(text, { intAsBigInt: true, keepSourceTokens: false, logLevel: 'silent' });
  if (document.errors.length > 0) return undefined;
  for (const operation of operations) if (!apply(document, operation)) return undefined;
  return document.toString({ lineWidth: 0, indentSeq: !hasFlushLists(text), flowCollectionPadding: false });
}

/** Whether list items have the same indentation as their key. */
export function hasFlushLists(text: string): boolean {
  return /^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n(?:\s*#[^\n]*\n)*\1- /m.test(text);
}

function apply(document: Document, operation: PatchOperation): boolean {
  const path = parsePointer(operation.path);
  const last = path.pop();
  const parent = nodeAt(document, path);
  if (last === undefined || parent === undefined) return false;
  if (isMap(parent)) {
    if (operation.op === 'remove') return parent.delete(last);
    parent.set(last, nodeFor(operation.value));
    return true;
  }
  if (!isSeq(parent)) return false;
  const index = last === '-' ? parent.items.length : Number(last);
  if (operation.op === 'remove') parent.items.splice(index, 1);
  else parent.items.splice(index, operation.op === 'replace' ? 1 : 0, nodeFor(operation.value));
  return true;
}

/** Undefined when the path passes through an alias or a key that is not a string. */
function nodeAt(document: Document, path: readonly string[]): Node | undefined {
  let node = document.contents as Node | null | undefined;
  for (const token of path) {
    if (isMap(node)) node = node.get(token, true) as Node | undefined;
    else if (isSeq(node)) node = node.items[Number(token)] as Node | undefined;
    else return undefined;
  }
  return node ?? undefined;
}

/** New values have the same format as in a printed object. */
function nodeFor(value: Json): Node | null {
  return parseDocument(writeYaml(value), { intAsBigInt: true, logLevel: 'silent' }).contents;
}

/** Checks an edit: the new source must read as the wanted object. */
function readsAs(text: string, object: JsonObject): boolean {
  const items = [...readYaml({ text, line: 1 }, '', false)];
  const [item] = items;
  return items.length === 1 && item !== undefined && 'object' in item && equal(item.object, object);
}
