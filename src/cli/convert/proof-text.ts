import { type Difference, type Proof, verdictText } from '../../convert/proof/prove.ts';
import { type Paint, plain } from '../../offline/output/paint.ts';
import { unifiedDiff } from '../../offline/output/unified-diff.ts';
import { writeYaml } from '../../yaml/writer.ts';
import type { ConvertedPolicy } from './to-cel.ts';

/** The request, the clause at fault, and the objects of both forms as a diff. */
export function differenceText({ sample, old, converted, fault }: Difference, paint: Paint = plain): string {
  const { rule, policy, path, expression, objectPath } = fault;
  const lines = [
    `  request: ${sample.operation} by ${sample.user?.info.username ?? 'nobody'}, ${sample.origin}`,
    ...(rule === undefined ? [] : [`  rule: ${rule}`]),
    ...(path === undefined ? [] : [`  at fault: ${policy ?? ''} ${path}`]),
    ...(objectPath === undefined || objectPath === '' ? [] : [`  field: ${objectPath}`]),
    ...(expression === undefined
      ? []
      : [
          '  expression:',
          ...expression
            .trimEnd()
            .split('\n')
            .map((line) => `    ${line}`),
        ]),
  ];
  const titles = { before: 'old policy', after: 'converted policy' };
  const isShown = old.type === 'denied' || converted.type === 'denied';
  const given = isShown ? `  object:\n${indented(writeYaml(sample.object))}` : '';
  const diff = unifiedDiff(titles, verdictText(old), verdictText(converted), paint);
  return `${lines.join('\n')}\n${given}${diff}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ');
}

/** What became of a policy, in one sentence. */
export function statusText({ checked }: ConvertedPolicy): string {
  const { status, conversion, proof, generated } = checked;
  const { documents, refusals } = conversion;
  switch (status) {
    case 'proven':
      return `converted and proven: ${comparedText(proof, generated)}`;
    case 'unproven':
      return 'converted, targets not proven: no request changed an existing object; give objects with -r that are changed';
    case 'differs':
      return 'converted with differences';
    case 'refused':
      return documents.length === 0
        ? 'not convertible'
        : `converted in part, ${refusals.length} ${refusals.length === 1 ? 'clause is' : 'clauses are'} not convertible`;
  }
}

function comparedText(proof: Proof | undefined, generated: number): string {
  const { compared = 0, changed = 0, existing } = proof ?? {};
  const given = compared - generated;
  const origin = given > 0 ? `${generated} of them generated` : 'all of them generated';
  return `the same result on ${compared} requests (${origin}), of which the old policy changes ${changed}${existing === undefined ? '' : `; after ${existing} of them it changes existing objects`}`;
}
