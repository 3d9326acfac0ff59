import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { alphaPath, isAlphaDialect, modernizeRule } from '../../policy/dialect-v1alpha1.ts';
import { sizeProblem } from '../../policy/policy-limits.ts';
import { collectProblems, type PolicySource, type ProblemCollector } from '../../policy/problem-collector.ts';
import type { Problem, Reporter } from '../../problem.ts';
import { adviseOnDeprecatedConditions, adviseOnDeprecatedFields } from './deprecated.ts';
import { adviseOnDifferences } from './differences.ts';
import { adviseOnNamespaceScope } from './namespace-scope.ts';
import { adviseOnConditionsThatNeverHold } from './never-holds.ts';
import { adviseOnNeverMatching } from './never-matches.ts';

/**
 * Warnings about a policy that loads without errors: deprecated fields, rules that can never apply, differences from
 * Kyverno. They are not part of loading, so that they do not appear on every run.
 */
export function adviseOnPolicy(document: JsonObject, source: PolicySource): readonly Problem[] {
  const metadata = readObject(document, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespaced = readText(document, 'kind') === 'Policy';
  const alpha = isAlphaDialect(document);
  // Kyverno never sees a policy of this group.
  const isOurs = readText(document, 'apiVersion')?.startsWith('kymera.io/') === true;
  const namespace = readText(metadata, 'namespace');
  const hasNamespace = namespaced && (!alpha || namespace !== undefined);
  const collector = collectProblems(source, hasNamespace ? `${namespace ?? 'default'}/${name}` : name);

  adviseOnDeprecatedFields(document, alpha, inRules(document, collector));
  const spec = readObject(document, 'spec') ?? {};
  readObjects(spec, 'rules').forEach((written, index) => {
    if (read(written, 'mutate') === undefined && read(written, 'generate') === undefined) return;
    const path: Path = ['spec', 'rules', index];
    const rule = alpha ? modernizeRule(written, index) : written;
    const reporter = collector.at(path, {
      rule: readText(rule, 'name') ?? '',
      translate: alpha ? alphaPath : undefined,
    });
    if (namespaced && !isOurs) adviseOnNamespaceScope(rule, namespace, reporter);
    if (read(written, 'mutate') === undefined) return;
    if (!alpha) adviseOnDeprecatedConditions(rule, reporter);
    adviseOnNeverMatching(rule, reporter);
    adviseOnConditionsThatNeverHold(rule, reporter);
    if (!isOurs) adviseOnDifferences(rule, reporter);
  });
  const tooLarge = sizeProblem(document, undefined, source);
  if (tooLarge === undefined) return collector.problems;
  return [...collector.problems, { ...tooLarge, severity: 'warning', policy: collector.policy }];
}

/** Adds the rule name to problems inside a rule. */
function inRules(document: JsonObject, collector: ProblemCollector): Reporter {
  const rules = readObjects(readObject(document, 'spec') ?? {}, 'rules');
  const at = (path: Path): Reporter => {
    const rule = path[1] === 'rules' ? rules[Number(path[2])] : undefined;
    const name = rule === undefined ? undefined : readText(rule, 'name');
    return collector.at([], { rule: name });
  };
  return {
    error: (path, ...problem) => at(path).error(path, ...problem),
    warn: (path, ...problem) => at(path).warn(path, ...problem),
  };
}
