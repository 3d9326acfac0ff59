import { useEffect, useRef, useState } from 'preact/hooks';
import { RenameField } from '../input/source-tabs.tsx';
import { evaluation, removeSource, renameSource, selected, workspace } from '../state/playground.ts';

/** The files of the kustomization by folder. F2 renames, Delete removes. */
export function FileList() {
  const [renaming, setRenaming] = useState<number | undefined>(undefined);
  const { files } = workspace.value;
  const order = [...files.keys()].sort((left, right) => comparePaths(nameAt(left), nameAt(right)));
  const current = selected.value.files;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current, files.length]);
  const errors = new Set(
    (evaluation.value?.problems ?? [])
      .filter(({ role, severity }) => role === 'files' && severity === 'error')
      .map(({ file }) => file),
  );
  function nameAt(index: number): string {
    return files[index]?.name ?? '';
  }
  const select = (index: number) => {
    selected.value = { ...selected.value, files: index };
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'F2') setRenaming(index);
    else if (event.key === 'Delete') removeSource('files', index);
    else if (step !== undefined) {
      const next = (order.indexOf(index) + step + order.length) % order.length;
      select(order[next] ?? 0);
      const list = (event.currentTarget as HTMLElement).closest('[role=tablist]');
      list?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    <div class="file-list" ref={list} role="tablist" aria-orientation="vertical" aria-label="Files">
      {order.map((index, at) => {
        const name = nameAt(index);
        const folder = folderOf(name);
        const isFirst = at === 0 || folderOf(nameAt(order[at - 1] ?? 0)) !== folder;
        return [
          isFirst && folder !== '' && (
            <span key={`folder ${folder}`} class="file-folder" role="presentation" aria-hidden="true">
              {folder}
            </span>
          ),
          renaming === index ? (
            <RenameField
              key={name}
              name={name}
              onDone={(changed) => {
                setRenaming(undefined);
                if (changed !== undefined) renameSource('files', index, changed);
              }}
            />
          ) : (
            <button
              key={name}
              type="button"
              role="tab"
              class="tab"
              aria-label={name}
              aria-selected={index === current}
              tabIndex={index === current ? 0 : -1}
              title={`${name}: double click or F2 to rename, Delete to remove`}
              onClick={() => select(index)}
              onDblClick={() => setRenaming(index)}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              {name.slice(folder === '' ? 0 : folder.length + 1)}
              {errors.has(name) && (
                <span class="error-dot">
                  <span class="visually-hidden">has errors</span>
                </span>
              )}
            </button>
          ),
        ];
      })}
    </div>
  );
}

function folderOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf('/'), 0));
}

/** The files of a folder before those of its subfolders; the kustomization first. */
function comparePaths(left: string, right: string): number {
  const folders = compareTexts(folderOf(left), folderOf(right));
  if (folders !== 0) return folders;
  const rank = (name: string) => (/(?:^|\/)kustomization(?:\.ya?ml)?$/i.test(name) ? 0 : 1);
  return rank(left) - rank(right) || compareTexts(left, right);
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
