import {
  read,
  readBoolean,
  readNumber,
  readObject,
  readObjects,
  readText,
  readTextMap,
} from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Problem, Reporter } from '../../problem.ts';
import { autogenAnnotation, autogenRules, isAutogenName } from '../autogen.ts';
import { checkPolicy } from '../check/policy.ts';
import { checkUserInfo } from '../check/user-info.ts';
import type { CompiledGenerateRule, CompiledPolicy, CompiledRule } from '../compiled.ts';
import { alphaPath, compileAlphaMutation, isAlphaDialect, modernizeRule } from '../dialect-v1alpha1.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { collectProblems, type PolicySource, type ProblemCollector } from '../problem-collector.ts';
import { notRunText, ruleType } from '../rule-type.ts';
import { checkObject } from '../schema/check.ts';
import { alphaPolicySchema, policySchema } from '../schema/policy.ts';
import { compileGenerateRule } from './generate.ts';
import { compileRule } from './rule.ts';

export interface PolicyResult {
  /** Absent when there is an error. */
  readonly policy?: CompiledPolicy | undefined;
  readonly problems: readonly Problem[];
}

/** Compiles one ClusterPolicy or Policy document; all problems of all rules are reported. */
export function compilePolicy(document: JsonObject, source: PolicySource): PolicyResult {
  const alpha = isAlphaDialect(document);
  const facts = factsOf(document, alpha);
  const name = readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
  const namespace = facts.namespaced ? (facts.namespace ?? 'default') : undefined;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const collector = collectProblems(source, key);
  const invalidRules = checkShape(document, alpha, facts.apiVersion, collector);
  checkPolicy(document, collector.at([]));
  readObjects(readObject(document, 'spec') ?? {}, 'rules').forEach((rule, index) => {
    const reporter = collector.at(['spec', 'rules', index], { rule: ruleNameAt(document, index) });
    checkUserInfo(rule, facts, reporter);
  });

  const written =
    invalidRules === 'all' ? [] : compileWritten(document, alpha, facts, invalidRules, collector);
  const generateRules =
    invalidRules === 'all' || alpha ? [] : compileGenerateRules(document, facts, invalidRules, collector);
  const generated = collector.hasErrors() || alpha ? [] : compileGenerated(document, facts, collector);
  if (collector.hasErrors()) return { problems: collector.problems };

  const kept = generated.length === 0 ? written : written.filter((rule) => !isAutogenName(rule.name));
  const others = otherRules(document, generateRules);
  warnOfOtherRules(document, others, alpha, collector);
  const policy: CompiledPolicy = {
    key,
    kind: facts.namespaced ? 'Policy' : 'ClusterPolicy',
    apiVersion: facts.apiVersion,
    name,
    namespace,
    rules: [...kept, ...generated],
    generateRules,
    otherRules: others,
    ...settings(document),
    source: { file: source.file, line: source.positionOf?.([]).line ?? 1 },
    document,
  };
  return { policy, problems: collector.problems };
}

function factsOf(document: JsonObject, alpha: boolean): PolicyFacts {
  const metadata = readObject(document, 'metadata') ?? {};
  const spec = readObject(document, 'spec') ?? {};
  const namespace = readText(metadata, 'namespace');
  const isPolicy = readText(document, 'kind') === 'Policy';
  const controllers = readTextMap(metadata, 'annotations')[autogenAnnotation];
  // In v1alpha1 every policy was a Policy and applied to the whole cluster.
  const namespaced = isPolicy && (!alpha || namespace !== undefined);
  return {
    apiVersion: readText(document, 'apiVersion') ?? '',
    namespaced,
    ...(namespaced && namespace !== undefined ? { namespace } : {}),
    background: readBoolean(spec, 'background') ?? !alpha,
    mutatesExisting: readObjects(spec, 'rules').some(
      (rule) => read(readObject(rule, 'mutate') ?? {}, 'targets') !== undefined,
    ),
    mutateExistingOnPolicyUpdate: readBoolean(spec, 'mutateExistingOnPolicyUpdate') ?? false,
    generateExisting: readBoolean(spec, 'generateExisting') ?? false,
    useServerSideApply: readBoolean(spec, 'useServerSideApply') ?? false,
    autogenControllers: controllers,
  };
}

/** Indexes of rules that cannot be compiled, or `all`. */
function checkShape(
  document: JsonObject,
  alpha: boolean,
  version: string,
  collector: ProblemCollector,
): ReadonlySet<number> | 'all' {
  const rules = new Set<number>();
  let everything = false;
  const plain = collector.at([]);
  const reporter: Reporter = {
    error(path, code, message, hint) {
      const inRule = path[0] === 'spec' && path[1] === 'rules' && typeof path[2] === 'number';
      if (code !== 'KYM_FIELD_UNKNOWN') {
        if (inRule) rules.add(path[2] as number);
        else everything = true;
      }
      const base = inRule ? path.slice(0, 3) : [];
      const rule = inRule ? ruleNameAt(document, path[2] as number) : undefined;
      collector.at(base, { rule }).error(path.slice(base.length), code, message, hint);
    },
    warn: plain.warn,
    writtenAt: plain.writtenAt,
  };
  checkObject(document, alpha ? alphaPolicySchema : policySchema, [], reporter, version);
  return everything ? 'all' : rules;
}

function ruleNameAt(document: JsonObject, index: number): string | undefined {
  const rule = readObjects(readObject(document, 'spec') ?? {}, 'rules')[index];
  return rule === undefined ? undefined : readText(rule, 'name');
}

function compileWritten(
  document: JsonObject,
  alpha: boolean,
  facts: PolicyFacts,
  invalidRules: ReadonlySet<number>,
  collector: ProblemCollector,
): readonly CompiledRule[] {
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((written, index) => {
    if (invalidRules.has(index)) return [];
    const path: Path = ['spec', 'rules', index];
    const rule = alpha ? modernizeRule(written, index) : written;
    const name = readText(rule, 'name') ?? '';
    const reporter = collector.at(path, { rule: name, ...(alpha ? { translate: alphaPath } : {}) });
    if (ruleType(rule, reporter) !== 'mutate') return [];
    const mutation = alpha ? { mutation: compileAlphaMutation } : {};
    return compileRule(rule, { reporter, facts, path, ...mutation }) ?? [];
  });
}

function compileGenerateRules(
  document: JsonObject,
  facts: PolicyFacts,
  invalidRules: ReadonlySet<number>,
  collector: ProblemCollector,
): readonly CompiledGenerateRule[] {
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((rule, index) => {
    if (invalidRules.has(index) || ruleType(rule) !== 'generate') return [];
    const path: Path = ['spec', 'rules', index];
    const reporter = collector.at(path, { rule: readText(rule, 'name') ?? '' });
    return compileGenerateRule(rule, { reporter, facts, path }) ?? [];
  });
}

/** Problems of a generated rule are reported at the rule it was generated from. */
function compileGenerated(
  document: JsonObject,
  facts: PolicyFacts,
  collector: ProblemCollector,
): readonly CompiledRule[] {
  return autogenRules(document).flatMap(({ document: rule, source }) => {
    const path: Path = ['spec', 'rules', source];
    const name = readText(rule, 'name') ?? '';
    const sourceName = ruleNameAt(document, source) ?? '';
    const authors = collector.at(path, { rule: sourceName });
    const reporter: Reporter = {
      error: (_, code, message, hint) =>
        authors.error([], code, `in the generated rule ${name}: ${message}`, hint),
      warn: () => {},
    };
    return compileRule(rule, { reporter, facts, path, autogenOf: sourceName }) ?? [];
  });
}

function otherRules(
  document: JsonObject,
  generateRules: readonly CompiledGenerateRule[],
): CompiledPolicy['otherRules'] {
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((rule, index) => {
    const type = ruleType(rule);
    if (type === undefined || type === 'mutate') return [];
    if (generateRules.some(({ path }) => path[2] === index)) return [];
    return [{ name: readText(rule, 'name') ?? `rule-${index}`, type }];
  });
}

/** Without this warning, rules that nobody enforces would look enforced. */
function warnOfOtherRules(
  document: JsonObject,
  others: CompiledPolicy['otherRules'],
  alpha: boolean,
  collector: ProblemCollector,
): void {
  // A generate rule that does not run is incomplete and already reported, except in v1alpha1.
  const notRun = others.filter(({ type }) => type !== 'generate' || alpha);
  if (notRun.length === 0) return;
  const rules = readObjects(readObject(document, 'spec') ?? {}, 'rules');
  const first = rules.findIndex((rule) => readText(rule, 'name') === notRun[0]?.name);
  const path: Path = ['spec', 'rules', ...(first < 0 ? [] : [first])];
  collector.at([]).warn(path, 'KYM_RULE_NOT_RUN', notRunText(notRun, rules.length));
}

function settings(document: JsonObject) {
  const metadata = readObject(document, 'metadata') ?? {};
  const spec = readObject(document, 'spec') ?? {};
  const webhook = readObject(spec, 'webhookConfiguration') ?? {};
  const failurePolicy = readText(webhook, 'failurePolicy') ?? readText(spec, 'failurePolicy');
  const timeoutSeconds = readNumber(webhook, 'timeoutSeconds') ?? readNumber(spec, 'webhookTimeoutSeconds');
  return {
    applyRules: readText(spec, 'applyRules') === 'One' ? 'One' : 'All',
    failurePolicy: failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    emitWarning: readBoolean(spec, 'emitWarning') ?? false,
    timeoutSeconds,
    matchConditions: readObjects(webhook, 'matchConditions').map((condition) => ({
      name: readText(condition, 'name') ?? '',
      expression: readText(condition, 'expression') ?? '',
    })),
    annotations: readTextMap(metadata, 'annotations'),
    labels: readTextMap(metadata, 'labels'),
  } as const;
}
