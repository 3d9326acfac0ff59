import { convertException, exemptedPolicies, type TranslatedException } from '../../convert/exceptions.ts';
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
  return drafts.map((draft) => {
    const { file, before, parts, policies } = draft;
    const texts = parts.flatMap((part) =>
      typeof part === 'string' ? [part] : exceptionTexts(part, written),
    );
    const isChanged =
      writable.has(draft) &&
      (policies.length > 0 || parts.some((part) => typeof part !== 'string' && isNamed(part, written)));
    return { file, before, after: isChanged ? withSeparators(texts) : before, policies };
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

/** The exception stays for policies and rules that stay. */
function exceptionTexts(
  { exception, source }: ExceptionPart,
  written: readonly ConvertedPolicy[],
): readonly string[] {
  const converted = convertException(
    exception,
    written.flatMap(({ checked }) => checked.conversion.exempted ?? []),
  );
  const whole = written.filter(({ checked }) => checked.conversion.refusals.length === 0);
  const names = exemptedPolicies(exception);
  const isDone = names.length > 0 && names.every((name) => whole.some((policy) => policy.name === name));
  return [...(isDone ? [] : [source]), ...(converted === undefined ? [] : [converted.text])];
}

function withSeparators(texts: readonly string[]): string {
  return texts
    .map((text, index) => {
      const ended = text.endsWith('\n') || text === '' ? text : `${text}\n`;
      return index === 0 || ended.startsWith('---') ? ended : `---\n${ended}`;
    })
    .join('');
}
