import { useState } from 'preact/hooks';
import { evaluation, removeSource, renameSource, selected, workspace } from '../state/playground.ts';

interface Props {
  readonly role: 'policies' | 'resources';
  readonly isActive: boolean;
  onSelect(): void;
  onAdd(): void;
}

/** The tabs of an editor: double click renames, Delete removes. */
export function SourceTabs({ role, isActive, onSelect, onAdd }: Props) {
  const [renaming, setRenaming] = useState<number | undefined>(undefined);
  const sources = workspace.value[role];
  const errors = new Set(
    (evaluation.value?.problems ?? [])
      .filter((problem) => problem.role === role && problem.severity === 'error')
      .map(({ file }) => file),
  );
  const select = (index: number) => {
    selected.value = { ...selected.value, [role]: index };
    onSelect();
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === 'F2') setRenaming(index);
    else if (event.key === 'Delete') removeSource(role, index);
    else if (step !== undefined) {
      const next = (index + step + sources.length) % sources.length;
      select(next);
      const list = (event.currentTarget as HTMLElement).closest('[role=tablist]');
      list?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={role === 'policies' ? 'Policy files' : 'Object files'}>
        {sources.map((source, index) => {
          const isSelected = isActive && index === selected.value[role];
          if (renaming === index) {
            return (
              <RenameField
                key={source.name}
                name={source.name}
                onDone={(name) => {
                  setRenaming(undefined);
                  if (name !== undefined) renameSource(role, index, name);
                }}
              />
            );
          }
          return (
            <button
              key={source.name}
              type="button"
              role="tab"
              class="tab"
              aria-selected={isSelected}
              tabIndex={index === selected.value[role] ? 0 : -1}
              title="Double click or F2 to rename, Delete to remove"
              onClick={() => select(index)}
              onDblClick={() => setRenaming(index)}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              {source.name}
              {errors.has(source.name) && (
                <span class="error-dot">
                  <span class="visually-hidden">has errors</span>
                </span>
              )}
            </button>
          );
        })}
      </div>
      {isActive && sources.length > 0 && (
        <button
          type="button"
          class="tab-action"
          aria-label={`Remove ${sources[selected.value[role]]?.name ?? 'file'}`}
          title="Remove this file"
          onClick={() => removeSource(role, selected.value[role])}
        >
          ×
        </button>
      )}
      <button type="button" class="tab-action" aria-label="Add a file" title="Add a file" onClick={onAdd}>
        +
      </button>
    </div>
  );
}

export function RenameField({
  name,
  onDone,
}: {
  readonly name: string;
  onDone(name: string | undefined): void;
}) {
  return (
    <input
      class="rename"
      aria-label="File name"
      value={name}
      ref={(element) => element?.focus()}
      onBlur={(event) => onDone(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onDone(event.currentTarget.value);
        else if (event.key === 'Escape') onDone(undefined);
      }}
    />
  );
}
