import { hasWildcard } from '../../expression/wildcard.ts';
import { formatText } from '../../yaml/scalar-text.ts';
import type { KindHints, PathHint } from './hints.ts';

/**
 * The parts of a Kustomization and of a HelmRelease that tell Flux what policies write. Flux looks for drift with a
 * dry run, which passes through the webhooks: fields that a rule only fills in need no mention, and naming them would
 * keep Git from setting them.
 */
export function fluxText(hints: readonly KindHints[]): string {
  const rules = hints.flatMap(ruleLines);
  const ignore = (indent: string) =>
    rules.length === 0
      ? [`${indent}ignore: []`]
      : [`${indent}ignore:`, ...rules.map((line) => `${indent}  ${line}`)];
  return `${[
    '# Flux: merge into a Kustomization (Flux 2.9 or later).',
    '# Written by kymera gitops hints; run it again when policies change.',
    ...noteLines(hints),
    'apiVersion: kustomize.toolkit.fluxcd.io/v1',
    'kind: Kustomization',
    'spec:',
    ...ignore('  '),
    '---',
    '# Flux: merge into a HelmRelease with drift detection.',
    'apiVersion: helm.toolkit.fluxcd.io/v2',
    'kind: HelmRelease',
    'spec:',
    '  driftDetection:',
    '    mode: enabled',
    ...ignore('    '),
  ].join('\n')}\n`;
}

function overwritten({ paths }: KindHints, type: PathHint['path']['type']): readonly PathHint[] {
  return paths.filter(({ path, onlyWhereAbsent }) => path.type === type && !onlyWhereAbsent);
}

function ruleLines(hints: KindHints): readonly string[] {
  const { group, kind, namespace } = hints;
  const exact = overwritten(hints, 'pointer');
  if (exact.length === 0) return [];
  const target = [
    ...(group === '' || hasWildcard(group) ? [] : [`group: ${formatText(group)}`]),
    ...(hasWildcard(kind) ? [] : [`kind: ${formatText(kind)}`]),
    ...(namespace === undefined ? [] : [`namespace: ${formatText(namespace)}`]),
  ];
  return [
    '- paths:',
    ...exact.map(({ path, rules }) => `    - ${formatText(path.text)} # ${rules.join(', ')}`),
    ...(target.length === 0 ? [] : ['  target:', ...target.map((line) => `    ${line}`)]),
  ];
}

/** What cannot be said with JSON pointers. */
function noteLines(hints: readonly KindHints[]): readonly string[] {
  const lines = hints.flatMap((kind) => [
    ...kind.anywhere.map((rule) => `#   ${kind.kind}: wherever the variables of ${rule} lead`),
    ...overwritten(kind, 'jq').map(({ place, rules }) => `#   ${kind.kind}: ${place} (${rules.join(', ')})`),
  ]);
  if (lines.length === 0) return [];
  return [
    '# No JSON pointer names these; they are no drift as long as Flux asks a server that has the policies:',
    ...lines,
  ];
}
