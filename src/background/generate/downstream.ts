import { findVariables, hasVariable } from '../../expression/template/tokens.ts';
import { compileWildcard, hasWildcard } from '../../expression/wildcard.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledGenerateRule, CompiledPolicy } from '../../policy/compiled.ts';
import { stringLabelsOf } from '../object-identity.ts';
import type { ObjectReader, ObjectRef } from '../ports.ts';
import { labelSelectorText } from '../store/label-selector-text.ts';
import { apiVersionAndKind } from './desired.ts';
import { ruleLabels, sourceLabels, triggerLabels } from './labels.ts';

export interface GeneratedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The kinds that a rule generates, without those that depend on the trigger. */
export function generatedKinds(rule: CompiledGenerateRule): readonly GeneratedKind[] {
  const generate = readObject(rule.document, 'generate') ?? {};
  const patterns = [generate, ...readObjects(generate, 'foreach')];
  const kinds = patterns.flatMap((pattern) => [
    { apiVersion: readText(pattern, 'apiVersion') ?? '', kind: readText(pattern, 'kind') ?? '' },
    ...readTexts(readObject(pattern, 'cloneList') ?? {}, 'kinds').map(apiVersionAndKind),
  ]);
  const known = kinds.filter(
    ({ apiVersion, kind }) =>
      kind !== '' && !hasVariable(kind) && !hasVariable(apiVersion) && !hasWildcard(kind),
  );
  return [...new Map(known.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind])).values()];
}

/** Whether the rule may generate this object for some trigger: the constant parts of its name, namespace and kind agree. */
export function mayGenerate(rule: CompiledGenerateRule, { kind, namespace, name }: ObjectRef): boolean {
  const generate = readObject(rule.document, 'generate') ?? {};
  const loops = readObjects(generate, 'foreach');
  return (loops.length === 0 ? [generate] : loops).some((pattern) => {
    const kinds = readTexts(readObject(pattern, 'cloneList') ?? {}, 'kinds');
    const places = readText(pattern, 'namespace') ?? '';
    if (namespace !== '' && places !== '' && !agrees(places, namespace)) return false;
    if (kinds.length > 0) return kinds.some((each) => agrees(apiVersionAndKind(each).kind, kind));
    return agrees(readText(pattern, 'kind') ?? '', kind) && agrees(readText(pattern, 'name') ?? '', name);
  });
}

/** A variable may have any value. */
function agrees(template: string, text: string): boolean {
  let pattern = '';
  let end = 0;
  for (const variable of findVariables(template)) {
    pattern += `${template.slice(end, variable.start)}*`;
    end = variable.end;
  }
  return compileWildcard(pattern + template.slice(end)).matches(text);
}

/** All objects that a rule has generated. */
export function downstreamOfRule(
  policy: Pick<CompiledPolicy, 'name' | 'namespace'>,
  rule: CompiledGenerateRule,
  reader: ObjectReader,
): Promise<readonly JsonObject[]> {
  return listLabelled(policy, generatedKinds(rule), ruleLabels(policy, rule.name), reader);
}

/** The objects that a rule has generated for one trigger. */
export async function downstreamOf(
  policy: Pick<CompiledPolicy, 'name' | 'namespace'>,
  rule: CompiledGenerateRule,
  trigger: ObjectRef,
  reader: ObjectReader,
): Promise<readonly JsonObject[]> {
  const labels = { ...ruleLabels(policy, rule.name), ...identifying(triggerLabels(trigger), trigger) };
  return listLabelled(policy, generatedKinds(rule), labels, reader);
}

/** The objects that a rule has copied from one source. */
export async function copiesOf(
  policy: Pick<CompiledPolicy, 'name' | 'namespace'>,
  rule: CompiledGenerateRule,
  source: ObjectRef,
  reader: ObjectReader,
): Promise<readonly JsonObject[]> {
  const { apiVersion, kind } = source;
  const labels = { ...ruleLabels(policy, rule.name), ...identifying(sourceLabels(source), source) };
  return listLabelled(policy, [{ apiVersion, kind }], labels, reader);
}

/** Selects by uid. Offline objects have none and are selected by name. Other versions may not write both labels. */
function identifying(
  labels: Readonly<Record<string, string>>,
  { uid }: ObjectRef,
): Readonly<Record<string, string>> {
  const unused = uid === undefined ? '-uid' : '-name';
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.endsWith(unused)));
}

/** A namespaced Policy generates only in its namespace; labels elsewhere are not its own. */
async function listLabelled(
  { namespace }: Pick<CompiledPolicy, 'namespace'>,
  kinds: readonly GeneratedKind[],
  labels: Readonly<Record<string, string>>,
  reader: ObjectReader,
): Promise<readonly JsonObject[]> {
  const labelSelector = labelSelectorText({ matchLabels: { ...labels } });
  const found: JsonObject[] = [];
  for (const { apiVersion, kind } of kinds) {
    const query = { apiVersion: apiVersion === '' ? '*' : apiVersion, kind, namespace, labelSelector };
    found.push(...(await reader.list(query)));
  }
  return found.filter((object) =>
    Object.entries(labels).every(([key, value]) => stringLabelsOf(object)[key] === value),
  );
}
