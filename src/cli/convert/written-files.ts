import { exceptionTexts, exemptedPolicies, type TranslatedException } from '../../convert/exceptions.ts';
import { joinDocuments } from '../../convert/file.ts';
import type { ConvertedFile, ConvertedPolicy } from './to-cel.ts';

/** A file whose policies are converted, and whose exceptions wait for the policies of all files. */
export interface DraftFile {
  readonly file: string;
  readonly before: string;
  readonly parts: readonly DraftPart[];
  readonly policies: readonly ConvertedPolicy[];
}

/** The text of documents, or an exception with its source. */
export type DraftPart = string | { readonly exception: TranslatedException; readonly source: string };

/** A result that differs is never written; one that lacks rules only if the user accepts that. */
export function isWritten({ checked }: ConvertedPolicy, partial: boolean): boolean {
  const { status, conversion } = checked;
  const isWhole = status === 'proven' || status === 'unproven';
  return isWhole || (status === 'refused' && partial && conversion.documents.length > 0);
}

/** The files as they are written. A file of which a policy is not written stays as it is, and so do policies whose exceptions are in it. */
export function finishFiles(drafts: readonly DraftFile[], partial: boolean): readonly ConvertedFile[] {
  const writable = writableFiles(drafts, partial);
  const written = [...writable].flatMap(({ policies }) => policies);
  const converted = written.map(({ name, checked }) => ({ name, conversion: checked.conversion }));
  return drafts.map((draft) => {
    const { file, before, parts, policies } = draft;
    const texts = parts.flatMap((part) =>
      typeof part === 'string' ? [part] : exceptionTexts(part.exception, part.source, converted),
    );
    const isChanged =
      writable.has(draft) &&
      (policies.length > 0 || parts.some((part) => typeof part !== 'string' && isNamed(part, written)));
    return { file, before, after: isChanged ? joinDocuments(texts) : before, policies };
  });
}

function writableFiles(drafts: readonly DraftFile[], partial: boolean): ReadonlySet<DraftFile> {
  const writable = new Set(
    drafts.filter(({ policies }) => policies.every((policy) => isWritten(policy, partial))),
  );
  for (let size = -1; size !== writable.size; ) {
    size = writable.size;
    const kept = drafts.filter((draft) => !writable.has(draft)).flatMap(({ parts }) => parts);
    for (const draft of writable) {
      if (kept.some((part) => typeof part !== 'string' && isNamed(part, draft.policies)))
        writable.delete(draft);
    }
  }
  return writable;
}

type ExceptionPart = Exclude<DraftPart, string>;

function isNamed({ exception }: ExceptionPart, policies: readonly ConvertedPolicy[]): boolean {
  const names = exemptedPolicies(exception);
  return policies.some(({ name }) => names.includes(name));
}
