import { checkConversion } from '../../convert/checked-conversion.ts';
import { compileSource, convertSource } from '../../convert/source-policy.ts';
import type { ConversionTarget } from '../../convert/types.ts';
import { readText } from '../../json/read-field.ts';
import { celDocumentType } from '../../policy/cel-documents.ts';
import type { SourceDocument } from '../../policy/documents.ts';
import { writeYaml } from '../../yaml/writer.ts';
import type { PolicyVerdict } from './verdict.ts';

/** `yes`: as it is. `converted`: after `kymera convert`, which proves that nothing changes. */
export interface Place {
  readonly runs: 'yes' | 'converted' | 'no';
  /** Why it does not run there. */
  readonly reason?: string | undefined;
}

export interface Places {
  readonly kymera: Place;
  readonly 'kyverno-1.19': Place;
  /** Kyverno 1.20 and later run policies in CEL only. */
  readonly 'kyverno-1.20': Place;
  /** Kubernetes without a webhook, as a MutatingAdmissionPolicy. */
  readonly kubernetes: Place;
}

const yes: Place = { runs: 'yes' };
/** Enough to find most differences; `kymera convert` compares more. */
const requests = 300;

/** Where a policy can run. */
export async function placesOf(document: SourceDocument, verdict: PolicyVerdict): Promise<Places> {
  const { value } = document;
  const type = celDocumentType(value);
  const isCelGroup = (readText(value, 'apiVersion') ?? '').startsWith('policies.kyverno.io/');
  if (type === 'admissionPolicy') {
    const asMutatingPolicy = await converted(document, 'mutatingpolicy');
    return {
      kymera: asMutatingPolicy,
      'kyverno-1.19': asMutatingPolicy,
      'kyverno-1.20': asMutatingPolicy,
      kubernetes: verdict.verdict === 'refused' ? refused(verdict) : yes,
    };
  }
  const kymera = kymeraPlace(verdict);
  if (isCelGroup) {
    const isMutating = type === 'mutatingPolicy';
    const kyverno = verdict.verdict === 'refused' ? refused(verdict) : yes;
    return {
      kymera,
      'kyverno-1.19': kyverno,
      'kyverno-1.20': kyverno,
      kubernetes: isMutating ? await converted(document, 'map') : no(`a ${verdict.kind} does not mutate`),
    };
  }
  return {
    kymera,
    'kyverno-1.19': oldKyverno(verdict),
    'kyverno-1.20': await converted(document, 'mutatingpolicy'),
    kubernetes: await converted(document, 'map'),
  };
}

function no(reason: string): Place {
  return { runs: 'no', reason };
}

function refused({ errors }: PolicyVerdict): Place {
  return no(errors[0]?.message ?? 'it does not load');
}

function kymeraPlace(verdict: PolicyVerdict): Place {
  if (verdict.verdict === 'refused') return refused(verdict);
  return verdict.verdict === 'stays' ? no('it has no rule that mutates or generates') : yes;
}

function oldKyverno(verdict: PolicyVerdict): Place {
  if (verdict.apiVersion.startsWith('kymera.io/')) return no('Kyverno does not read kymera.io');
  if (verdict.verdict === 'refused') return refused(verdict);
  const rejected = verdict.differences.find(({ message }) =>
    /^(?:Kyverno rejects|only Kymera)/.test(message),
  );
  return rejected === undefined ? yes : no(rejected.message);
}

async function converted(document: SourceDocument, to: ConversionTarget): Promise<Place> {
  const { value } = document;
  const conversion = convertSource(value, { to, source: writeYaml(value) });
  if (conversion === undefined) return no('it is of another kind');
  const [refusal] = conversion.refusals;
  if (refusal !== undefined)
    return no(
      `${refusal.rule === undefined ? '' : `rule ${refusal.rule}: `}${refusal.path}: ${refusal.reason}`,
    );
  const old = compileSource(document);
  if (old === undefined) return no('it does not load');
  const { status, proof, problems } = await checkConversion(old, conversion, { limit: requests });
  if (status === 'proven') return { runs: 'converted' };
  if (status === 'unproven')
    return no('it can be converted, but no request changed an existing object, so this is not proven');
  const reason =
    conversion.differences[0]?.reason ?? proof?.difference?.fault.message ?? problems[0]?.message;
  return no(`the converted policy differs: ${reason ?? 'it does not load'}`);
}

export const placeNames: readonly (keyof Places)[] = ['kymera', 'kyverno-1.19', 'kyverno-1.20', 'kubernetes'];

export type Totals = Readonly<Record<keyof Places, Readonly<Record<Place['runs'], number>>>>;

/** How many policies run where. */
export function totalsOf(policies: readonly { readonly places: Places }[]): Totals {
  const count = (place: keyof Places) => {
    const having = (runs: Place['runs']) =>
      policies.filter(({ places }) => places[place].runs === runs).length;
    return { yes: having('yes'), converted: having('converted'), no: having('no') };
  };
  return Object.fromEntries(placeNames.map((place) => [place, count(place)])) as Totals;
}
