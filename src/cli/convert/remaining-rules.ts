import { isMap, isSeq, parseDocument } from 'yaml';
import type { Refusal } from '../../convert/types.ts';
import { hasFlushLists } from '../../offline/output/yaml-edit.ts';
import { mapAt, memberOf, textAt } from '../../yaml/nodes.ts';
import { keepLines, print } from './text.ts';

/** The policy with only the rules that could not be converted. */
export function withoutConvertedRules(source: string, refusals: readonly Refusal[]): string {
  const parse = () => parseDocument(source, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const document = parse();
  const kept = new Set(refusals.map(({ rule }) => rule));
  const spec = isMap(document.contents) ? mapAt(document.contents, 'spec') : undefined;
  const rules = spec && memberOf(spec, 'rules');
  if (!isSeq(rules)) return source;
  rules.items = rules.items.filter((rule) => isMap(rule) && kept.has(textAt(rule, 'name') ?? ''));
  const indentSeq = !hasFlushLists(source);
  const printed = print(document, source, indentSeq);
  return keepLines(source, print(parse(), source, indentSeq), printed);
}
