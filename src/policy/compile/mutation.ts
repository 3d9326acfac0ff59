import { read, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { type CompiledReplacement, compileReplacement } from '../../patch/replacement/replacement.ts';
import type { Reporter } from '../../problem.ts';
import { checkVariables, type VariableScope } from '../check/variable-scope.ts';
import type { CompiledMutation } from '../compiled.ts';
import { isForeign, type PolicyFacts } from '../policy-facts.ts';
import { compileForeach, type ForeachSurroundings } from './foreach.ts';
import { compilePatchOf } from './patch.ts';

const forms = ['foreach', 'patchStrategicMerge', 'patchesJson6902', 'replacements'] as const;
export type MutationForm = (typeof forms)[number];

/** The patch forms a mutate block has; empty lists and strings do not count. */
export function mutationForms(mutate: JsonObject): readonly MutationForm[] {
  return forms.filter((form) => {
    if (form === 'patchStrategicMerge') return read(mutate, form) !== undefined;
    if (form === 'patchesJson6902') return (readText(mutate, form) ?? '') !== '';
    return readList(mutate, form).length > 0;
  });
}

export function compileMutation(
  mutate: JsonObject,
  path: Path,
  scope: VariableScope,
  around: ForeachSurroundings,
): CompiledMutation | undefined {
  const { reporter } = around;
  const [form, ...others] = mutationForms(mutate);
  if (others.length > 0) {
    const message = `only one of ${[form, ...others].join(', ')} is allowed in a mutate block`;
    reporter.error(path, 'KYM_MUTATE_FORM', message, 'Write a separate rule for each.');
    return undefined;
  }
  switch (form) {
    case undefined:
      reporter.warn(
        path,
        'KYM_MUTATE_FORM',
        'the rule has no patch and changes nothing',
        `Add one of ${forms.join(', ')}.`,
      );
      return { type: 'replacements', replacements: [] };
    case 'foreach':
      return {
        type: 'foreach',
        entries: compileForeach(readObjects(mutate, 'foreach'), [...path, 'foreach'], scope, around),
      };
    case 'replacements': {
      const replacements = compileReplacements(mutate, [...path, form], scope, around.facts, reporter);
      return { type: 'replacements', replacements };
    }
    default: {
      const patch = compilePatchOf(mutate, path, reporter, scope, around.object);
      return patch === undefined ? undefined : { type: 'patch', patch };
    }
  }
}

function compileReplacements(
  mutate: JsonObject,
  path: Path,
  scope: VariableScope,
  facts: PolicyFacts,
  reporter: Reporter,
): readonly CompiledReplacement[] {
  return readObjects(mutate, 'replacements').flatMap((entry, index) => {
    const at = [...path, index];
    const namespace = readText(readObject(entry, 'source') ?? {}, 'namespace') ?? '';
    if (isForeign(namespace, facts)) {
      const message = `a Policy in ${facts.namespace} cannot read an object in ${namespace}`;
      reporter.error([...at, 'source', 'namespace'], 'KYM_NAMESPACE_SCOPE', message);
    }
    const compiled = compileReplacement(entry, at, reporter, 'policy');
    if (compiled === undefined) return [];
    checkVariables(compiled.roots, scope, at, reporter, entry);
    return [compiled];
  });
}
