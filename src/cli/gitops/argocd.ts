import { fieldManager } from '../../cluster/api/names.ts';
import { visibleLine } from '../../offline/output/visible.ts';
import { formatText } from '../../yaml/scalar-text.ts';
import type { KindHints, PathHint } from './hints.ts';

/** The part of an Application that makes Argo CD ignore fields that policies write. */
export function argocdText(hints: readonly KindHints[]): string {
  const head = [
    '# Argo CD: merge into an Application, or into the template of an ApplicationSet.',
    '# Written by kymera gitops hints; run it again when policies change.',
  ];
  if (hints.length === 0) return `${head.join('\n')}\nspec:\n  ignoreDifferences: []\n`;
  return `${[...head, 'spec:', '  ignoreDifferences:', ...hints.flatMap(kindLines)].join('\n')}\n`;
}

function kindLines(hints: KindHints): readonly string[] {
  const { group, kind, namespace, paths, anywhere, writesExisting } = hints;
  const fields = [
    ...(group === '' ? [] : [`group: ${formatText(group)}`]),
    `kind: ${formatText(kind)}`,
    ...(namespace === undefined ? [] : [`namespace: ${formatText(namespace)}`]),
  ];
  return [
    ...fields.map((field, index) => `  ${index === 0 ? '-' : ' '} ${field}`),
    ...anywhere.map((rule) => `    # ${visibleLine(rule)} writes to paths that depend on variables`),
    ...list(
      'jsonPointers',
      paths.filter(({ path }) => path.type === 'pointer'),
    ),
    ...list(
      'jqPathExpressions',
      paths.filter(({ path }) => path.type === 'jq'),
    ),
    // Only background writes have Kymera as field manager. Admission changes belong to the requester.
    ...(writesExisting ? ['    managedFieldsManagers:', `      - ${fieldManager}`] : []),
  ];
}

function list(field: string, hints: readonly PathHint[]): readonly string[] {
  if (hints.length === 0) return [];
  const items = hints.map(
    ({ path, rules }) => `      - ${formatText(path.text)} # ${visibleLine(rules.join(', '))}`,
  );
  return [`    ${field}:`, ...items];
}
