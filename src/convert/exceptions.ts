import { compileWildcard } from '../expression/wildcard.ts';
import { stringifyJson } from '../json/json-text.ts';
import { read, readObject, readObjects, readText, readTexts } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { declaredSchema } from '../patch/structured/declared.ts';
import type { StructuredSchema } from '../patch/structured/schema.ts';
import { filterBlocks } from '../policy/check/match-blocks.ts';
import { allOf, anyOf, bool, not } from './expression/cel-text.ts';
import { translateConditions } from './expression/conditions.ts';
import { translateExceptionMatch } from './match/match.ts';
import { declaredBy, schemasOf } from './mutation/kinds.ts';
import { printPolicy } from './print.ts';
import type { ConvertedRule } from './rule.ts';
import { createScope, Variables } from './scope.ts';
import {
  type CelText,
  type Conversion,
  type ConversionTarget,
  type ConvertedDocument,
  type ExemptedPolicy,
  NotConvertible,
} from './types.ts';

/** A PolicyException of `kyverno.io` and what it means in CEL. */
export interface TranslatedException {
  /** NAMESPACE/NAME. */
  readonly key: string;
  readonly document: JsonObject;
  /** What an exempted object fulfils, or why CEL cannot express it. */
  readonly tests: readonly NamedTest[] | NotConvertible;
}

interface NamedTest {
  readonly name: string;
  readonly test: CelText;
}

/** Undefined for other documents. */
export function translateException(
  document: JsonObject,
  to: ConversionTarget,
): TranslatedException | undefined {
  const group = /^(?:kyverno|kymera)\.io\//.test(readText(document, 'apiVersion') ?? '');
  if (!group || readText(document, 'kind') !== 'PolicyException') return undefined;
  const metadata = readObject(document, 'metadata') ?? {};
  const key = `${readText(metadata, 'namespace') ?? 'default'}/${readText(metadata, 'name') ?? ''}`;
  try {
    return { key, document, tests: testsOf(readObject(document, 'spec') ?? {}, to) };
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    return { key, document, tests: error };
  }
}

function testsOf(spec: JsonObject, to: ConversionTarget): readonly NamedTest[] {
  const match = translateExceptionMatch(readObject(spec, 'match') ?? {}, 'spec', 'object');
  const tests = [{ name: 'match', test: match }];
  const written = read(spec, 'conditions');
  if (written !== undefined) {
    const variables = new Variables();
    const path = 'spec.conditions';
    const conditions = translateConditions(
      written,
      path,
      createScope(to, variables, 'object', schemaOf(spec)),
    );
    if (conditions.total !== true) {
      throw new NotConvertible(
        path,
        'the conditions may fail: then the exception does not count, but in CEL the policy would fail',
      );
    }
    tests.push({
      name: 'conditions',
      test: { ...conditions, source: variables.inline(conditions.source) },
    });
  }
  return tests.filter(({ test }) => test.source !== 'true');
}

/** The schema of the objects that the exception matches: of metadata, if it does not name their kinds. */
function schemaOf(spec: JsonObject): StructuredSchema | undefined {
  const { mode, blocks } = filterBlocks(readObject(spec, 'match') ?? {}, []);
  const kinds = blocks.map(({ resources }) => readTexts(resources, 'kinds'));
  const isOpen = mode === 'any' && kinds.some((names) => names.length === 0);
  return isOpen ? declaredSchema({}) : declaredBy(schemasOf(kinds.flat()));
}

/** The keys of the policies that the exception is for. */
export function exemptedPolicies({ document }: TranslatedException): readonly string[] {
  return readObjects(readObject(document, 'spec') ?? {}, 'exceptions').map(
    (entry) => readText(entry, 'policyName') ?? '',
  );
}

function exempts({ document }: TranslatedException, policy: string, rule: string): boolean {
  return readObjects(readObject(document, 'spec') ?? {}, 'exceptions').some(
    (entry) =>
      readText(entry, 'policyName') === policy &&
      readTexts(entry, 'ruleNames').some((name) => compileWildcard(name).matches(rule)),
  );
}

/** How the exceptions from a rule are expressed. */
export interface Exemption {
  /** Keys of the exceptions. */
  readonly exceptions: readonly string[];
  /**
   * `outside`: a PolicyException of `policies.kyverno.io`. `condition`: a match condition of the policy. `precondition`: after the
   * preconditions, which may fail for an exempted object too.
   */
  readonly place: 'outside' | 'condition' | 'precondition';
  /** No exception holds. */
  readonly test: CelText;
}

/** What decides how exceptions from a policy are expressed. */
export interface ExemptingPolicy {
  /** NAME, or NAMESPACE/NAME. */
  readonly key: string;
  readonly isNamespaced: boolean;
  /** The API server evaluates conditions before the exceptions, and they may fail. */
  readonly hasWebhookConditions: boolean;
}

/**
 * The exceptions from a converted rule. A MutatingAdmissionPolicy has no exceptions, and those from a NamespacedMutatingPolicy would
 * count in all namespaces. Throws NotConvertible.
 */
export function exemptionOf(
  { rule, preconditions = bool(true), targets }: ConvertedRule,
  policy: ExemptingPolicy,
  exceptions: readonly TranslatedException[],
  to: ConversionTarget,
): Exemption | undefined {
  const name = readText(rule.document, 'name') ?? '';
  const own = exceptions.filter((exception) => exempts(exception, policy.key, name));
  if (own.length === 0) return undefined;
  if (targets !== undefined)
    throw new NotConvertible(rule.path, `${nameOf(own)} exempts from a rule for existing objects`);
  if (/"(?:DELETE|CONNECT)"/.test(stringifyJson(rule.document['match'] ?? null)))
    throw new NotConvertible(rule.path, `${nameOf(own)} exempts from a rule that matches deletions`);
  const tests = own.map((exception) => {
    if (!(exception.tests instanceof NotConvertible)) return allOf(exception.tests.map(({ test }) => test));
    const { path, reason } = exception.tests;
    throw new NotConvertible(rule.path, `${path} of ${nameOf([exception])}: ${reason}`);
  });
  const none = not(anyOf(tests));
  if (to === 'map' && none.source.includes('namespaceObject'))
    throw new NotConvertible(
      rule.path,
      `${nameOf(own)} reads labels of the namespace, which the conditions of a MutatingAdmissionPolicy cannot`,
    );
  const isTotal = preconditions.total === true;
  const isOutside =
    to === 'mutatingpolicy' && !policy.isNamespaced && !policy.hasWebhookConditions && isTotal;
  const place = isOutside ? 'outside' : isTotal ? 'condition' : 'precondition';
  return { exceptions: own.map(({ key }) => key), place, test: none };
}

function nameOf(exceptions: readonly TranslatedException[]): string {
  return `PolicyException ${exceptions.map(({ key }) => key).join(', ')}`;
}

/** Whether an exemption reads fields that an earlier policy may change; the old one reads the object before all rules. */
export function readsChangedObject({ test }: Exemption): boolean {
  return /\bobject[.[](?!metadata\.\?(?:name|generateName)\b)/.test(test.source);
}

/** The PolicyException of `policies.kyverno.io` for converted policies. */
export function convertException(
  { key, document, tests }: TranslatedException,
  policies: readonly ExemptedPolicy[],
): ConvertedDocument | undefined {
  const refs = policies.filter(({ exceptions }) => exceptions.includes(key));
  if (refs.length === 0 || tests instanceof NotConvertible) return undefined;
  const conditions = tests.map(({ name, test }) => ({ name, expression: test.source }));
  const converted: JsonObject = {
    apiVersion: 'policies.kyverno.io/v1',
    kind: 'PolicyException',
    metadata: document['metadata'] ?? {},
    spec: {
      policyRefs: refs.map(({ name, kind }) => ({ name, kind })),
      ...(conditions.length > 0 && { matchConditions: conditions }),
    },
  };
  const comments = new Map(conditions.map((condition) => [condition, [`spec.${condition.name}`]]));
  return {
    document: converted,
    text: printPolicy(converted, comments, [`Converted from PolicyException ${key}.`]),
  };
}

/** A converted exception, after the old one if it stays for policies and rules that stay. */
export function exceptionTexts(
  exception: TranslatedException,
  source: string,
  written: readonly { readonly name: string; readonly conversion: Conversion }[],
): readonly string[] {
  const converted = convertException(
    exception,
    written.flatMap(({ conversion }) => conversion.exempted ?? []),
  );
  const whole = written.filter(({ conversion }) => conversion.refusals.length === 0);
  const names = exemptedPolicies(exception);
  const isDone = names.length > 0 && names.every((name) => whole.some((policy) => policy.name === name));
  return [...(isDone ? [] : [source]), ...(converted === undefined ? [] : [converted.text])];
}
