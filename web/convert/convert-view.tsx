import './convert.css';
import { signal } from '@preact/signals';
import type { ConversionTarget } from '../../src/convert/types.ts';
import { TextEditor } from '../editor/code-editor.tsx';
import type { ClauseNote } from '../engine/conversion.ts';
import type { Evaluation } from '../engine/evaluation.ts';
import { addSource, goTo, replaceSources, selected, workspace } from '../state/playground.ts';
import { ResultComparison } from './result-comparison.tsx';
import { useConversion } from './use-conversion.ts';
import { VerdictView } from './verdict-view.tsx';

const kinds = { mutatingpolicy: 'MutatingPolicy', map: 'MutatingAdmissionPolicy' } as const;

const target = signal<ConversionTarget>('mutatingpolicy');
/** A converted text that the user changed. */
const edit = signal<{ file: string; to: ConversionTarget; text: string } | undefined>(undefined);

/** The policies of the selected file in CEL, whether they do the same, and both results on an object. */
export function ConvertView({ result }: { readonly result: Evaluation }) {
  const source = workspace.value.policies[selected.value.policies];
  const file = source?.name ?? '';
  const to = target.value;
  const edited = edit.value?.file === file && edit.value.to === to ? edit.value.text : undefined;
  const shown = useConversion(result, { file, to, edited });
  const text = edited ?? shown?.file.text ?? '';
  const isEmpty =
    shown !== undefined &&
    edited === undefined &&
    shown.file.converted === 0 &&
    shown.file.refusals.length === 0;
  const hasText = edited !== undefined || (shown?.file.converted ?? 0) > 0;
  return (
    <div class="convert">
      <div class="toolbar">
        <span class="muted">{file === '' ? 'No policy file' : `Policies of ${file}`}</span>
        <div class="segments" role="group" aria-label="Kind of the new policies">
          {(['mutatingpolicy', 'map'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              aria-pressed={to === kind}
              onClick={() => {
                target.value = kind;
              }}
            >
              {kinds[kind]}
            </button>
          ))}
        </div>
      </div>
      {isEmpty && (
        <p class="empty muted">
          There is no policy in this file that can become a {kinds[to]}. See Problems.
        </p>
      )}
      {shown !== undefined && (
        <>
          <Notes title="Not convertible" notes={shown.file.refusals} file={file} kind="error" />
          <Notes title="Converted, but different" notes={shown.file.differences} file={file} kind="warning" />
          {hasText && <VerdictView shown={shown} isEdited={edited !== undefined} />}
        </>
      )}
      {hasText && (
        <>
          <TextActions
            text={text}
            onOpen={() => addSource('policies', { name: newName(file), text })}
            onReplace={() => {
              edit.value = undefined;
              replaceSources({
                policies: workspace.value.policies.map((each) =>
                  each.name === file ? { ...each, text } : each,
                ),
              });
            }}
            onReset={edited === undefined ? undefined : () => (edit.value = undefined)}
          />
          <div class="converted-text">
            <TextEditor
              key={`${to} ${file}`}
              text={text}
              label="Converted policy"
              onChange={(typed) => {
                edit.value = typed === shown?.file.text ? undefined : { file, to, text: typed };
              }}
            />
          </div>
          <ResultComparison shown={shown} kind={kinds[to]} />
        </>
      )}
    </div>
  );
}

function newName(file: string): string {
  return file.replace(/(\.[^.]*)?$/, '-cel$1');
}

interface NotesProps {
  readonly title: string;
  readonly notes: readonly ClauseNote[];
  readonly file: string;
  readonly kind: 'error' | 'warning';
}

/** Clauses of the old policies. Each goes to its line. */
function Notes({ title, notes, file, kind }: NotesProps) {
  if (notes.length === 0) return null;
  return (
    <ul class="problems" aria-label={title}>
      {notes.map(({ policy, rule, path, reason, line, column }) => (
        <li key={`${policy} ${rule ?? ''} ${path} ${reason}`} class={kind}>
          <button type="button" class="link" onClick={() => goTo({ role: 'policies', file, line, column })}>
            <span class="place">
              {file}:{line}
            </span>{' '}
            {policy}
            {rule !== undefined && ` › ${rule}`}: {title.toLowerCase()}: {reason}
          </button>
          <span class="hint">{path}</span>
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  readonly text: string;
  onOpen(): void;
  onReplace(): void;
  readonly onReset?: (() => void) | undefined;
}

function TextActions({ text, onOpen, onReplace, onReset }: ActionsProps) {
  return (
    <div class="toolbar">
      <span class="muted">
        {onReset === undefined ? 'Edit the text to see whether it still does the same.' : 'Edited by you.'}
      </span>
      <div class="actions">
        {onReset !== undefined && (
          <button type="button" class="button small" onClick={onReset}>
            Undo edits
          </button>
        )}
        <button type="button" class="button small" onClick={() => void navigator.clipboard?.writeText(text)}>
          Copy
        </button>
        <button
          type="button"
          class="button small"
          title="Add the new policies as another file"
          onClick={onOpen}
        >
          Open as policy
        </button>
        <button
          type="button"
          class="button small"
          title="Replace the old policies with the new ones"
          onClick={onReplace}
        >
          Replace policy
        </button>
      </div>
    </div>
  );
}
