import { nameOf } from '../json/metadata.ts';
import { readObject, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { celCompilers } from '../policy/cel/language.ts';
import { celDocumentType } from '../policy/cel-documents.ts';
import { compilePolicy } from '../policy/compile/policy.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import type { SourceDocument } from '../policy/documents.ts';
import { convertForm } from './forms/convert-form.ts';
import { type ConvertOptions, convertPolicy } from './policy.ts';
import type { Conversion, ConversionTarget } from './types.ts';

export interface SourceOptions {
  readonly to: ConversionTarget;
  readonly partial?: boolean | undefined;
  /** The YAML of the document. */
  readonly source: string;
  /** Documents that may be bindings of the policy. */
  readonly others?: readonly JsonObject[] | undefined;
  readonly exceptions?: ConvertOptions['exceptions'];
}

/** Converts a policy of any kind. Undefined for other documents, and for a policy that already has the kind. */
export function convertSource(value: JsonObject, options: SourceOptions): Conversion | undefined {
  const { to, source, others = [] } = options;
  if (celDocumentType(value) !== undefined) {
    const bindings = others.filter(
      (each) =>
        celDocumentType(each) === 'admissionBinding' &&
        readText(readObject(each, 'spec') ?? {}, 'policyName') === nameOf(value),
    );
    return convertForm(source, to, bindings);
  }
  const [group = ''] = (readText(value, 'apiVersion') ?? '').split('/');
  const isPolicy =
    /^(?:Cluster)?Policy$/.test(readText(value, 'kind') ?? '') &&
    /^(?:kyverno\.io|policy\.nirmata\.io|kymera\.io)$/.test(group);
  return isPolicy ? convertPolicy(value, options) : undefined;
}

/** Compiles a policy of any kind; undefined if it does not load. */
export function compileSource(document: SourceDocument): CompiledPolicy | undefined {
  switch (celDocumentType(document.value)) {
    case 'mutatingPolicy':
      return celCompilers.compileMutatingPolicy(document.value, document, { strict: false }).policy;
    case 'admissionPolicy':
      return celCompilers.compileAdmissionPolicy(document.value, document).policy;
    default:
      return compilePolicy(document.value, document).policy;
  }
}
