import { Scalar, type YAMLMap } from 'yaml';
import { stringifyJson } from '../../json/json-text.ts';
import { formatPointer } from '../../json/pointer.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { autogenAnnotation } from '../../policy/autogen.ts';
import { isAlphaDialect } from '../../policy/dialect-v1alpha1.ts';
import type { SourceDocument } from '../../policy/documents.ts';
import type { Problem } from '../../problem.ts';
import { mapAt, mapsIn, newMap, newPair, setText, textAt } from '../../yaml/nodes.ts';
import { convertConditions, unconvertedConditions } from './conditions.ts';
import { convertFields } from './fields.ts';
import { convertFilters } from './match.ts';
import { alphaObstacles, convertAlpha } from './v1alpha1.ts';

/** The reasons why a document (errors) or a part of it (warnings) is not converted. */
export function conversionProblems(source: SourceDocument): readonly Problem[] {
  const document = source.value;
  const name = readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
  const problem = (severity: Problem['severity'], path: Path, message: string, hint: string): Problem => ({
    code: 'KYM_NOT_CONVERTED',
    severity,
    message,
    hint,
    pointer: formatPointer(path),
    file: source.file,
    ...source.positionOf(path),
    policy: name,
  });
  if (isAlphaDialect(document)) {
    return alphaObstacles(document).map(({ path, reason, advice }) =>
      problem('error', path, `this rule has no exact equivalent in kyverno.io/v1: ${reason}`, advice),
    );
  }
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((rule, index) =>
    unconvertedConditions(rule).map(({ path, operator }) => {
      const choice = operator === 'In' ? 'AnyIn or AllIn' : 'AnyNotIn or AllNotIn';
      const message = `${operator} is kept: ${choice} may compare differently, because key or value may not be a plain string`;
      return problem(
        'warning',
        ['spec', 'rules', index, ...path],
        message,
        `Use ${choice} if both are lists of plain strings.`,
      );
    }),
  );
}

/** References `$( )` are paths into the rule, which the conversion would break. */
export function holdsReferences(document: JsonObject): boolean {
  return /(?<!\\)\$\((?! |\))/.test(stringifyJson(readObject(document, 'spec') ?? {}));
}

/** Converts the nodes of a policy or exception. */
export function convertNodes(policy: YAMLMap, document: JsonObject, indentSeq: boolean): void {
  const version = textAt(policy, 'apiVersion') ?? '';
  if (textAt(policy, 'kind') === 'PolicyException') {
    if (/^kyverno\.io\/v2(alpha|beta)\d+$/.test(version)) setText(policy, 'apiVersion', 'kyverno.io/v2');
    return;
  }
  if (isAlphaDialect(document)) convertAlpha(policy, indentSeq);
  if (/^(?:kyverno\.io|policy\.nirmata\.io)\/(?:v1alpha1|v2beta1)$/.test(version)) {
    setText(policy, 'apiVersion', 'kyverno.io/v1');
  }
  const spec = mapAt(policy, 'spec');
  if (spec === undefined) return;
  convertFields(spec);
  for (const rule of mapsIn(spec, 'rules')) {
    convertFilters(rule);
    convertConditions(rule);
  }
}

/** v1alpha1 had no autogen rules. */
export function switchAutogenOff(policy: YAMLMap): void {
  const metadata = mapAt(policy, 'metadata');
  if (metadata === undefined) return;
  const annotation = newPair(autogenAnnotation, new Scalar('none'));
  const annotations = mapAt(metadata, 'annotations');
  if (annotations === undefined) metadata.items.push(newPair('annotations', newMap([annotation])));
  else annotations.items.push(annotation);
}
