import { hasWildcard } from '../../expression/wildcard.ts';
import { readTexts } from '../../json/read-field.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import type { BlockDocument } from '../../policy/check/match-blocks.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import type { Reporter } from '../../problem.ts';

/** Built-in kinds: the groups that have them, and their names in lower case singular and plural. */
const groupsByKind = new Map<string, Set<string>>();
const kindBySpelling = new Map<string, string>();
const builtInGroups = new Set<string>();
for (const name of Object.keys(mergeKinds)) {
  const [kind = '', version = '', group = ''] = name.split('/').reverse();
  if (version === '') continue;
  builtInGroups.add(group);
  groupsByKind.set(kind, (groupsByKind.get(kind) ?? new Set()).add(group));
  for (const spelling of spellingsOf(kind.toLowerCase())) kindBySpelling.set(spelling, kind);
}

function spellingsOf(kind: string): readonly string[] {
  return [kind, `${kind}s`, `${kind}es`, kind.replace(/y$/, 'ies')];
}

/** Reports misspelt built-in kinds, and built-in kinds in the wrong group. */
export function adviseOnKinds({ path, resources }: BlockDocument, reporter: Reporter): void {
  readTexts(resources, 'kinds').forEach((text, index) => {
    const parts = parseKind(text);
    if (parts === undefined || hasWildcard(parts.kind)) return;
    const at = [...path, 'resources', 'kinds', index];
    const groups = groupsByKind.get(parts.kind);
    if (groups === undefined) {
      const kind = kindBySpelling.get(parts.kind.toLowerCase());
      if (kind === undefined || (parts.group !== '*' && !builtInGroups.has(parts.group))) return;
      const message = `Kubernetes has no kind ${parts.kind}, only ${kind}`;
      reporter.warn(at, 'KYM_NEVER_APPLIES', message, `Write ${text.replace(parts.kind, kind)}.`);
    } else if (!hasWildcard(parts.group) && builtInGroups.has(parts.group) && !groups.has(parts.group)) {
      const known = [...groups].map((group) => (group === '' ? 'the core group' : group)).join(' or ');
      const message = `Kubernetes has no ${parts.kind} in the group ${parts.group}, only in ${known}`;
      reporter.warn(at, 'KYM_NEVER_APPLIES', message, `The plain kind ${parts.kind} matches in every group.`);
    }
  });
}
