import type { SourceRole, SourceText, Workspace } from '../engine/workspace.ts';

/** Files that changed on disk replace those in the page. Other edits and tabs stay. */
export function changedSources(
  before: Pick<Workspace, SourceRole>,
  after: Pick<Workspace, SourceRole>,
  shown: Pick<Workspace, SourceRole>,
): Pick<Workspace, SourceRole> {
  const merge = (role: SourceRole): SourceText[] => {
    const old = new Map(before[role].map(({ name, text }) => [name, text]));
    const fresh = new Map(after[role].map(({ name, text }) => [name, text]));
    const kept = shown[role]
      .filter(({ name }) => fresh.has(name) || !old.has(name))
      .map((source) => {
        const text = fresh.get(source.name);
        return text === undefined || text === old.get(source.name) ? source : { ...source, text };
      });
    const names = new Set(shown[role].map(({ name }) => name));
    const added = after[role].filter(({ name }) => !names.has(name) && !old.has(name));
    return [...kept, ...added];
  };
  return {
    policies: merge('policies'),
    resources: merge('resources'),
    context: merge('context'),
    files: merge('files'),
  };
}
