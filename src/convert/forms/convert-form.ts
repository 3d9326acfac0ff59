import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { read, readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { autogenVariants } from '../../policy/cel/autogen.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import { celDocumentType } from '../../policy/cel-documents.ts';
import { readDocuments } from '../../policy/documents.ts';
import { mapsIn, pairOf, removePair, setText } from '../../yaml/nodes.ts';
import type { Conversion, ConvertedDocument, Refusal } from '../types.ts';
import { commonObstacles, fieldObstacles, operationsOf } from './obstacles.ts';

/**
 * Converts a MutatingPolicy to a MutatingAdmissionPolicy with its binding, or back. `bindings` are the bindings of the
 * MutatingAdmissionPolicy. The source keeps its comments. Undefined if the document is of another kind.
 */
export function convertForm(
  source: string,
  to: 'mutatingpolicy' | 'map',
  bindings: readonly JsonObject[] = [],
): Conversion | undefined {
  const [document] = readDocuments({ file: '', text: source }).documents;
  if (document === undefined) return undefined;
  const type = celDocumentType(document.value);
  if (to === 'map' && type === 'mutatingPolicy') return toAdmissionPolicy(source, document.value);
  if (to === 'mutatingpolicy' && type === 'admissionPolicy')
    return toMutatingPolicy(source, document.value, bindings);
  return undefined;
}

function toMutatingPolicy(source: string, policy: JsonObject, bindings: readonly JsonObject[]): Conversion {
  const spec = readObject(policy, 'spec') ?? {};
  const refusals = [
    ...fieldObstacles(spec, { paramKind: 'a MutatingPolicy has no parameters' }),
    ...commonObstacles(spec),
    ...bindingObstacles(bindings),
  ];
  const text = edited(source, (document, root, inner) => {
    setText(root, 'apiVersion', 'policies.kyverno.io/v1');
    setText(root, 'kind', 'MutatingPolicy');
    // The API server never runs a MutatingAdmissionPolicy for deletions, or for the controllers of Pods.
    for (const rule of ruleNodes(inner)) {
      const operations = rule.get('operations', true);
      if (operationsOf({ matchConstraints: { resourceRules: [asValue(rule)] } }).has('*'))
        rule.set(
          'operations',
          document.createNode(['CREATE', 'UPDATE', 'CONNECT'], {
            flow: isSeq(operations) && operations.flow === true,
          }),
        );
    }
    inner.set('autogen', document.createNode({ podControllers: { controllers: [] } }));
  });
  return finished([text], refusals);
}

function bindingObstacles(bindings: readonly JsonObject[]): readonly Refusal[] {
  if (bindings.length > 1)
    return [{ path: 'spec', reason: `it has ${bindings.length} bindings, and runs once for each` }];
  return bindings.flatMap((binding) => {
    const name = readText(readObject(binding, 'metadata') ?? {}, 'name') ?? '';
    return fieldObstacles(readObject(binding, 'spec') ?? {}, {
      matchResources: `the binding ${name} limits the objects, and a MutatingPolicy has no binding`,
      paramRef: `the binding ${name} has parameters, and a MutatingPolicy has none`,
    });
  });
}

const lostInAdmissionPolicy: Readonly<Record<string, string>> = {
  targetMatchConstraints: 'a MutatingAdmissionPolicy does not change other objects',
  targetMatchConditions: 'a MutatingAdmissionPolicy does not change other objects',
  auditAnnotations: 'a MutatingAdmissionPolicy has no audit annotations',
  'evaluation.mutateExisting.enabled': 'a MutatingAdmissionPolicy does not change existing objects',
  'evaluation.useServerSideApply': 'a MutatingAdmissionPolicy never replaces atomic lists, maps and structs',
};

function toAdmissionPolicy(source: string, policy: JsonObject): Conversion {
  const spec = readObject(policy, 'spec') ?? {};
  const evaluation = readObject(spec, 'evaluation') ?? {};
  const refusals: Refusal[] = [...fieldObstacles(spec, lostInAdmissionPolicy), ...commonObstacles(spec)];
  if (readText(evaluation, 'mode') === 'JSON')
    refusals.push({ path: 'spec.evaluation.mode', reason: 'it is not for objects of Kubernetes' });
  if (read(readObject(evaluation, 'admission') ?? {}, 'enabled') === false)
    refusals.push({ path: 'spec.evaluation.admission.enabled', reason: 'it does not run at admission' });
  if (autogenVariants(spec).length > 0)
    refusals.push({
      path: 'spec.autogen',
      reason:
        'it also applies to the controllers of Pods; set autogen.podControllers.controllers to [] if it need not',
    });
  for (const operation of ['DELETE', '*'].filter((each) => operationsOf(spec).has(each)))
    refusals.push({
      path: 'spec.matchConstraints.resourceRules',
      reason: `the operation ${operation} includes deletions, which a MutatingAdmissionPolicy does not see`,
    });
  const namespace = readText(readObject(policy, 'metadata') ?? {}, 'namespace');
  const name = readText(readObject(policy, 'metadata') ?? {}, 'name') ?? '';
  const text = edited(source, (document, root, inner) => {
    setText(root, 'apiVersion', 'admissionregistration.k8s.io/v1');
    setText(root, 'kind', 'MutatingAdmissionPolicy');
    for (const field of ['evaluation', 'autogen', 'webhookConfiguration', 'auditAnnotations'])
      remove(inner, field);
    if (!inner.has('reinvocationPolicy')) inner.set('reinvocationPolicy', 'Never');
    if (namespace === undefined) return;
    const metadata = root.get('metadata');
    if (isMap(metadata)) remove(metadata, 'namespace');
    const condition = { name: 'namespace', expression: `request.namespace == ${JSON.stringify(namespace)}` };
    const conditions = inner.get('matchConditions');
    if (isSeq(conditions)) conditions.items.unshift(document.createNode(condition));
    else inner.set('matchConditions', document.createNode([condition]));
  });
  const binding = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: ${name}
spec:
  policyName: ${name}
`;
  return finished([text, binding], refusals);
}

/** Compiles the result: what the other kind does not allow is a reason too. */
function finished(texts: readonly string[], refusals: readonly Refusal[]): Conversion {
  const documents = texts.flatMap((text) =>
    readDocuments({ file: '', text }).documents.map((document) => ({ text, document })),
  );
  const problems = documents.flatMap(({ document }) => {
    const type = celDocumentType(document.value);
    if (type === 'admissionPolicy')
      return celCompilers.compileAdmissionPolicy(document.value, document).problems;
    if (type !== 'mutatingPolicy') return [];
    return celCompilers.compileMutatingPolicy(document.value, document, { strict: false }).problems;
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  const unexpected = errors.map(({ pointer, message }) => ({ path: dotted(pointer), reason: message }));
  const all = refusals.length > 0 ? refusals : unexpected;
  const converted = documents.map(
    ({ text, document }): ConvertedDocument => ({ text, document: document.value }),
  );
  return { documents: all.length === 0 ? converted : [], refusals: all, differences: [] };
}

function dotted(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((token) => (/^\d+$/.test(token) ? `[${token}]` : `.${token}`))
    .join('')
    .replace(/^\./, '');
}

/** The source with changed nodes. All scalars are strings, so that others are printed as they were written. */
function edited(source: string, edit: (document: Document, root: YAMLMap, spec: YAMLMap) => void): string {
  const document = parseDocument(source, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const root = document.contents;
  const spec = isMap(root) ? root.get('spec') : undefined;
  if (isMap(root) && isMap(spec)) edit(document, root, spec);
  return document.toString({ lineWidth: 0 });
}

function ruleNodes(spec: YAMLMap): readonly YAMLMap[] {
  const constraints = spec.get('matchConstraints');
  return isMap(constraints) ? mapsIn(constraints, 'resourceRules') : [];
}

function asValue(node: YAMLMap): JsonObject {
  return node.toJSON() as JsonObject;
}

function remove(map: YAMLMap, key: string): void {
  const pair = pairOf(map, key);
  if (pair !== undefined) removePair(map, pair);
}
