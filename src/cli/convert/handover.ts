import { parseDocument } from 'yaml';
import { formatPointer } from '../../json/pointer.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { hasFlushLists } from '../../offline/output/yaml-edit.ts';
import { readDocuments, type SourceDocument } from '../../policy/documents.ts';
import { ruleType } from '../../policy/rule-type.ts';
import type { Problem } from '../../problem.ts';
import { setText, textAt } from '../../yaml/nodes.ts';
import { policyNodes } from './documents.ts';
import { keepLines, print, printJson } from './text.ts';

const theirs = /^kyverno\.io\//;
const ours = 'kymera.io/v1';

export interface HandOver {
  readonly text: string;
  readonly problems: readonly Problem[];
}

/** Moves Kyverno policies to the group that only Kymera reads. Rules that only Kyverno runs must stay in its group. */
export function handOver(file: string, text: string): HandOver {
  const policies = readDocuments({ file, text }).documents.filter(isTheirs);
  const problems = policies.flatMap(stayingRules);
  if (problems.length > 0 || policies.length === 0) return { text, problems };
  const parse = () => parseDocument(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const document = parse();
  for (const node of policyNodes(document)) {
    const isPolicy = /^(?:Cluster)?Policy$/.test(textAt(node, 'kind') ?? '');
    if (isPolicy && theirs.test(textAt(node, 'apiVersion') ?? '')) setText(node, 'apiVersion', ours);
  }
  const indentSeq = !hasFlushLists(text);
  const printed = print(document, text, indentSeq);
  if (/^\s*[{[]/.test(text)) return { text: printJson(printed, text), problems };
  return { text: keepLines(text, print(parse(), text, indentSeq), printed), problems };
}

function isTheirs({ value }: SourceDocument): boolean {
  return (
    theirs.test(readText(value, 'apiVersion') ?? '') &&
    /^(?:Cluster)?Policy$/.test(readText(value, 'kind') ?? '')
  );
}

function stayingRules({ value, file, positionOf }: SourceDocument): readonly Problem[] {
  const policy = readText(readObject(value, 'metadata') ?? {}, 'name') ?? '';
  return readObjects(readObject(value, 'spec') ?? {}, 'rules').flatMap((rule, index): Problem[] => {
    const type = ruleType(rule);
    if (type !== 'validate' && type !== 'verifyImages') return [];
    const path = ['spec', 'rules', index];
    return [
      {
        code: 'KYM_NOT_CONVERTED',
        severity: 'error',
        message: `rule ${readText(rule, 'name') ?? index} is a ${type} rule: it would not be enforced under ${ours}`,
        hint: 'Move it to a separate policy for Kyverno, then convert the rest.',
        pointer: formatPointer(path),
        file,
        ...positionOf(path),
        policy,
      },
    ];
  });
}
