import { type Document, isMap, isSeq, type YAMLMap } from 'yaml';
import { readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { mapsIn, textAt } from '../../yaml/nodes.ts';

export function isPolicyOrException(value: JsonObject): boolean {
  const version = readText(value, 'apiVersion') ?? '';
  return (
    /^(?:kyverno\.io|policy\.nirmata\.io|kymera\.io)\//.test(version) &&
    /^(?:ClusterPolicy|Policy|PolicyException)$/.test(readText(value, 'kind') ?? '')
  );
}

/** The nodes of policies in document order. A List is replaced by its items. */
export function policyNodes(document: Document): readonly YAMLMap[] {
  const flatten = (node: unknown): readonly YAMLMap[] => {
    if (!isMap(node)) return [];
    return (textAt(node, 'kind') ?? '').endsWith('List') && isSeq(node.get('items', true))
      ? mapsIn(node, 'items').flatMap(flatten)
      : [node];
  };
  return flatten(document.contents).filter((node) => {
    const [apiVersion, kind] = [textAt(node, 'apiVersion') ?? '', textAt(node, 'kind') ?? ''];
    return isPolicyOrException({ apiVersion, kind });
  });
}
