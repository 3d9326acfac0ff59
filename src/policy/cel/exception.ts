import { compileCel } from '../../cel/expression.ts';
import { CelError } from '../../cel/value/error.ts';
import { didYouMean } from '../../expression/did-you-mean.ts';
import { parseRfc3339 } from '../../expression/go/time.ts';
import { readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { type Reporter, replaceHint } from '../../problem.ts';
import type { ExceptionResult } from '../compile/exception.ts';
import type { CompiledException } from '../compiled.ts';
import type { CelHost } from '../compiled-cel.ts';
import { collectProblems, type PolicySource } from '../problem-collector.ts';
import { celExceptionSchema } from '../schema/cel.ts';
import { checkObject } from '../schema/check.ts';
import { environmentOf } from './mutating-policy.ts';
import { checkNames } from './names.ts';
import { compileNamed } from './parts.ts';
import { type PlacedExpression, Run } from './program.ts';
import { createScope } from './scope.ts';

const priorityLabel = 'polex.kyverno.io/priority';

/** Compiles a PolicyException of policies.kyverno.io. */
export function compileCelException(document: JsonObject, source: PolicySource): ExceptionResult {
  const metadata = readObject(document, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespace = readText(metadata, 'namespace') ?? 'default';
  const key = `${namespace}/${name}`;
  const collector = collectProblems(source, key);
  const reporter = collector.at([]);
  const version = readText(document, 'apiVersion') ?? '';
  if (!checkObject(document, celExceptionSchema, [], reporter, version))
    return { problems: collector.problems };
  const spec = readObject(document, 'spec') ?? {};
  const refs = readObjects(spec, 'policyRefs');
  if (refs.length === 0) {
    reporter.error(
      ['spec', 'policyRefs'],
      'KYM_FIELD_MISSING',
      'policyRefs is empty',
      'Name at least one policy.',
    );
  }
  refs.forEach((ref, index) => {
    checkReference(ref, ['spec', 'policyRefs', index], reporter);
  });
  checkNames(spec, reporter, 'warn');
  const expiry = readText(spec, 'expiresAt');
  const expiresAt = expiry === undefined ? undefined : timeOf(expiry);
  if (expiry !== undefined && expiresAt === undefined) {
    reporter.error(
      ['spec', 'expiresAt'],
      'KYM_FIELD_VALUE',
      `${JSON.stringify(expiry)} is not a time`,
      'Use RFC 3339: 2030-01-31T00:00:00Z.',
    );
  }
  const environment = environmentOf(undefined);
  const conditions = compileNamed(spec, 'matchConditions', 'bool', reporter, (text) =>
    compileCel(text, environment),
  );
  if (collector.hasErrors()) return { problems: collector.problems };
  const priority = readTextMap(metadata, 'labels')[priorityLabel] ?? '';
  const exception: CompiledException = {
    key,
    name,
    namespace,
    match: { any: [] },
    exceptions: [],
    cel: {
      key,
      policies: refs.map((ref) => ({ kind: readText(ref, 'kind') ?? '', name: readText(ref, 'name') ?? '' })),
      expiresAt,
      report: readText(spec, 'reportResult') === 'pass' ? 'pass' : 'skip',
      priority: /^[-+]?\d+$/.test(priority) ? Number(priority) : 0,
      images: readTexts(spec, 'images'),
      allowedValues: readTexts(spec, 'allowedValues'),
      matches: (object, host) => conditionsHold(conditions, object, host, namespace),
    },
    source: { file: source.file, line: source.positionOf?.([]).line ?? 1 },
  };
  return { exception, problems: collector.problems };
}

const policyKinds = ['Mutating', 'Validating', 'ImageValidating', 'Generating', 'Deleting'].flatMap(
  (kind) => [`${kind}Policy`, `Namespaced${kind}Policy`],
);

function checkReference(ref: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['name', 'kind']) {
    if (readText(ref, field) !== '') continue;
    reporter.error(
      [...path, field],
      'KYM_FIELD_VALUE',
      `${field} is empty`,
      `Set the ${field} of the policy.`,
    );
  }
  const kind = readText(ref, 'kind') ?? '';
  if (kind === '' || policyKinds.includes(kind)) return;
  const similar = didYouMean(kind, policyKinds);
  reporter.warn(
    [...path, 'kind'],
    'KYM_NEVER_APPLIES',
    `an exception of policies.kyverno.io has no effect on a ${kind}`,
    similar === undefined
      ? 'Name a MutatingPolicy or a NamespacedMutatingPolicy; for a ClusterPolicy write a PolicyException of kyverno.io/v2.'
      : replaceHint(kind, similar),
  );
}

/** Milliseconds. Undefined if the text is not a time of RFC 3339. */
function timeOf(text: string): number | undefined {
  try {
    return Number(parseRfc3339(text).nanoseconds / 1_000_000n);
  } catch {
    return undefined;
  }
}

/** Those who may write an exception need not be trusted with the rights of the server: it reads data of its own namespace. */
function conditionsHold(
  conditions: readonly PlacedExpression[],
  object: JsonObject | null,
  host: CelHost,
  namespace: string,
): boolean {
  if (conditions.length === 0) return true;
  const scope = createScope({ object }, host, { flavour: 'MutatingPolicy', namespace });
  const unmet = new Run({ ...host, explain: false }).unmet(conditions, scope);
  if (unmet === undefined) return true;
  if ('code' in unmet) throw new CelError(unmet.detail);
  return false;
}
