import { stringifyJson } from '../../json/json-text.ts';
import { nameOf } from '../../json/metadata.ts';
import { readBoolean, readObject } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { celDocumentType } from '../../policy/cel-documents.ts';
import { collectProblems, type PolicySource } from '../../policy/problem-collector.ts';
import type { Problem } from '../../problem.ts';
import type { Refusal } from '../types.ts';
import { convertForm } from './convert-form.ts';

/** The spec of a MutatingAdmissionPolicy, or what it would lose. */
export type GeneratedSpec = { readonly spec: JsonObject } | { readonly refusals: readonly Refusal[] };

/** Whether a policy requests that a MutatingAdmissionPolicy is generated from it. */
export function requestsGeneration(policy: JsonObject): boolean {
  const autogen = readObject(readObject(policy, 'spec') ?? {}, 'autogen') ?? {};
  return (
    celDocumentType(policy) === 'mutatingPolicy' &&
    readBoolean(readObject(autogen, 'mutatingAdmissionPolicy') ?? {}, 'enabled') === true
  );
}

/** The spec of the MutatingAdmissionPolicy that does exactly what a MutatingPolicy does. */
export function generatedSpec(policy: JsonObject): GeneratedSpec {
  const { apiVersion = '', kind = '', spec = {} } = policy;
  if (kind === 'NamespacedMutatingPolicy') {
    const reason =
      'a NamespacedMutatingPolicy cannot own a MutatingAdmissionPolicy, which is for the whole cluster';
    return { refusals: [{ path: 'kind', reason }] };
  }
  // The converter reads YAML, and JSON is YAML.
  const source = stringifyJson({ apiVersion, kind, metadata: { name: nameOf(policy) }, spec });
  const conversion = convertForm(source, 'map');
  const converted = readObject(conversion?.documents[0]?.document ?? {}, 'spec');
  if (converted !== undefined) return { spec: converted };
  return { refusals: conversion?.refusals ?? [{ path: 'kind', reason: 'it is not a MutatingPolicy' }] };
}

/** In one line. */
export function refusalText(refusals: readonly Refusal[]): string {
  return refusals.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
}

/** A warning for each reason why a policy requests a MutatingAdmissionPolicy in vain. */
export function adviseOnGeneration(policy: JsonObject, source: PolicySource): readonly Problem[] {
  const generated = requestsGeneration(policy) ? generatedSpec(policy) : { refusals: [] };
  const collector = collectProblems(source, nameOf(policy));
  const reporter = collector.at(['spec', 'autogen', 'mutatingAdmissionPolicy', 'enabled']);
  for (const refusal of 'refusals' in generated ? generated.refusals : [])
    reporter.warn(
      [],
      'KYM_NOT_CONVERTED',
      `no MutatingAdmissionPolicy is generated: ${refusalText([refusal])}`,
      'In a cluster, the webhook runs the policy.',
    );
  return collector.problems;
}
