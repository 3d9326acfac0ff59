import { adviseOnPolicy } from '../../src/analysis/advice/advice.ts';
import { celCompilersFor } from '../../src/policy/cel-documents.ts';
import { type LoadResult, loadBindings, loadDocuments } from '../../src/policy/load.ts';
import type { SourceText } from './workspace.ts';

interface Loaded {
  readonly text: string;
  /** The bindings of MutatingAdmissionPolicies, which may be in other files. */
  readonly boundBy: string;
  readonly result: LoadResult;
}

const admissionPolicy = /\bMutatingAdmissionPolicy\b/;

/** Compiles the policies of files that changed since the last call. The compiler for CEL is loaded for the first policy that needs it. */
export function createPolicyLoader(): (sources: readonly SourceText[]) => Promise<readonly LoadResult[]> {
  let known = new Map<string, Loaded>();
  return async (sources) => {
    const files = sources.map(({ name, text }) => ({ file: name, text }));
    const cel = await celCompilersFor(files);
    const binding = files.filter(({ text }) => text.includes('MutatingAdmissionPolicyBinding'));
    const bindings = cel === undefined ? [] : loadBindings(binding, cel);
    const bindingTexts = binding.map(({ text }) => text).join('\n');
    const next = new Map<string, Loaded>();
    for (const file of files) {
      const { text } = file;
      const boundBy = admissionPolicy.test(text) ? bindingTexts : '';
      const before = known.get(file.file);
      const isKnown = before?.text === text && before.boundBy === boundBy;
      const result = isKnown
        ? before.result
        : loadDocuments([file], { advise: adviseOnPolicy, cel, bindings });
      next.set(file.file, { text, boundBy, result });
    }
    known = next;
    return files.map(({ file }) => (next.get(file) as Loaded).result);
  };
}
