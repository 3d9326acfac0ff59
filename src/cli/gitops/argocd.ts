import { fieldManager } from '../../cluster/api/names.ts';
import { formatText } from '../../yaml/scalar-text.ts';
import type { KindHints, PathHint } from './hints.ts';

/** The part of an Application that tells Argo CD what policies write. */
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
    ...anywhere.map((rule) => `    # ${rule} writes wherever its variables lead: no path says where`),
    ...list(
      'jsonPointers',
      paths.filter(({ path }) => path.type === 'pointer'),
    ),
    ...list(
      'jqPathExpressions',
      paths.filter(({ path }) => path.type === 'jq'),
    ),
    // Only what Kymera writes by itself is recorded under its name: what it adds to a request belongs to the requester.
    ...(writesExisting ? ['    managedFieldsManagers:', `      - ${fieldManager}`] : []),
  ];
}

function list(field: string, hints: readonly PathHint[]): readonly string[] {
  if (hints.length === 0) return [];
  const items = hints.map(({ path, rules }) => `      - ${formatText(path.text)} # ${rules.join(', ')}`);
  return [`    ${field}:`, ...items];
}
