import { TextEditor } from '../editor/code-editor.tsx';
import type { ContextRead, SourceProblem } from '../engine/evaluation.ts';
import { evaluation, update, workspace } from '../state/playground.ts';

/** Everything that the policies read besides the object, with editable answers. */
export function ContextForm() {
  const { mocks, context } = workspace.value;
  const reads = evaluation.value?.reads ?? [];
  const problems = evaluation.value?.problems ?? [];
  const set = (key: string, text: string | undefined) => {
    const { [key]: _, ...rest } = mocks;
    update({ mocks: text === undefined ? rest : { ...rest, [key]: text } });
  };
  const unused = Object.keys(mocks).filter((key) => reads.every((read) => read.key !== key));
  const shown: readonly ContextRead[] = [
    ...reads,
    ...unused.map(
      (key): ContextRead => ({ key, type: 'object', title: key, found: true, starter: mocks[key] ?? '' }),
    ),
  ];
  if (shown.length === 0 && context.length === 0) {
    return (
      <div class="empty">
        <p>The policies read nothing but the object.</p>
        <p class="muted">
          ConfigMaps, API calls, image data and global context entries that a rule reads appear here, and you
          can edit what it gets.
        </p>
      </div>
    );
  }
  return (
    <div class="form" role="group" aria-label="Context">
      {context.map((source, index) => (
        <div key={source.name} class="mock">
          <span>{source.name}: objects in the cluster</span>
          <MockEditor
            label={`Objects of ${source.name}`}
            text={source.text}
            problems={problems.filter(({ role, file }) => role === 'context' && file === source.name)}
            onChange={(text) =>
              update({ context: context.map((one, at) => (at === index ? { ...one, text } : one)) })
            }
          />
        </div>
      ))}
      {shown.map((read) => {
        const own = problems.filter(({ role, file }) => role === 'mocks' && file === read.key);
        return (
          <div key={read.key} class="mock">
            <div class="mock-head">
              <code>{read.title}</code>
              <span class={read.found ? 'badge good' : 'badge bad'}>
                {read.found ? 'found' : 'not found'}
              </span>
              {mocks[read.key] === undefined ? (
                <button type="button" class="button small" onClick={() => set(read.key, read.starter)}>
                  {read.found ? 'Replace' : 'Add a mock'}
                </button>
              ) : (
                <button type="button" class="button small" onClick={() => set(read.key, undefined)}>
                  Remove the mock
                </button>
              )}
            </div>
            {read.error !== undefined && <p class="muted">{read.error}</p>}
            {mocks[read.key] !== undefined && (
              <MockEditor
                label={`Mock of ${read.title}`}
                text={mocks[read.key] ?? ''}
                problems={own}
                onChange={(text) => set(read.key, text)}
              />
            )}
          </div>
        );
      })}
    </div>
  );
}

interface MockEditorProps {
  readonly label: string;
  readonly text: string;
  readonly problems: readonly SourceProblem[];
  onChange(text: string): void;
}

function MockEditor(props: MockEditorProps) {
  return (
    <>
      {props.problems.map(({ message, line }) => (
        <p key={message} class="problem" role="alert">
          {line === undefined ? '' : `line ${line}: `}
          {message}
        </p>
      ))}
      <div class="mock-editor">
        <TextEditor {...props} isData />
      </div>
    </>
  );
}
