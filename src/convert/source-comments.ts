import { isNode, isSeq, type Node, parseDocument, visit } from 'yaml';

/** The comments of the author of a policy. */
export interface SourceComments {
  /** Comments outside of rules. */
  readonly policy: readonly string[];
  /** By the index of the rule. */
  readonly rules: readonly (readonly string[])[];
}

export const noComments: SourceComments = { policy: [], rules: [] };

/** Reads the comments of one YAML document, in their order. */
export function readComments(source: string): SourceComments {
  const document = parseDocument(source, { logLevel: 'silent' });
  if (document.errors.length > 0 || document.contents === null) return noComments;
  const list = document.getIn(['spec', 'rules'], true);
  const items = isSeq(list) ? list.items.filter(isNode) : [];
  const inRules = new Set<unknown>(items);
  const policy = [
    ...linesOf(document.commentBefore),
    ...commentsIn(document.contents, inRules),
    ...linesOf(document.comment),
  ];
  return { policy, rules: items.map((item) => commentsIn(item, new Set())) };
}

function commentsIn(root: Node, without: ReadonlySet<unknown>): readonly string[] {
  const found: string[] = [];
  visit(root, (_key, node) => {
    if (without.has(node)) return visit.SKIP;
    if (isNode(node)) found.push(...linesOf(node.commentBefore), ...linesOf(node.comment));
    return undefined;
  });
  return found;
}

function linesOf(comment: string | null | undefined): readonly string[] {
  return (comment ?? '').split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
