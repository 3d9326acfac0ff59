import { diff } from '../../json/diff/diff.ts';
import type { JsonObject } from '../../json/value.ts';
import { idOf } from '../../kustomize/resource/resource.ts';
import type { RecordedChange, RecordedStage, TracedField, TracedReplacement } from '../../kustomize/trace.ts';
import { dotted } from '../../offline/output/tree.ts';
import { visible } from '../../offline/output/visible.ts';

/** What a stage did, for `--explain`: a line for the stage, and one below it for each resource and replacement. */
export function formatStage(stage: RecordedStage): string {
  const { file, field, title = '', source, joined, changes, replacements } = stage;
  const name = `${file}: ${field ?? title}${source === undefined ? '' : ` (${source})`}`;
  const below = [
    ...joined.map(({ object }) => `takes ${titleOf(object)}`),
    ...changes.map(changeText),
    ...replacements.flatMap(replacementTexts),
  ];
  const lines = below.length === 0 ? ['changes nothing'] : below;
  return [name, ...lines.map((line) => `  ${line}`)].map((line) => `${visible(line)}\n`).join('');
}

function changeText({ before, after }: RecordedChange): string {
  if (before === undefined) return `adds ${titleOf(after ?? {})}`;
  if (after === undefined) return `removes ${titleOf(before)}`;
  const operations = diff(before, after).map(({ op, path }) => `${op} ${path}`);
  return `${titleOf(before)}: ${operations.join(', ')}`;
}

/** Names only the fields: a value may be secret. */
function replacementTexts({ field, source, targets }: TracedReplacement): readonly string[] {
  const from = source === undefined ? 'a value' : fieldText(source);
  return targets.map((target) => `${field}: ${from} → ${fieldText(target)}`);
}

function fieldText({ resource, path }: TracedField): string {
  return `${titleOf(resource.object)} ${dotted(path)}`;
}

function titleOf(object: JsonObject): string {
  const { kind, namespace, name } = idOf(object);
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
