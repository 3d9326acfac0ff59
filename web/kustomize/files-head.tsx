import { openFiles } from '../input/drop.ts';
import { addSource, evaluation, removeSource, selected, update, workspace } from '../state/playground.ts';
import './files.css';

/** The folder that is built, and buttons for the files. */
export function FilesHead() {
  const { files, folder = '' } = workspace.value;
  const build = evaluation.value?.build;
  const current = files[selected.value.files]?.name;
  const chosen = folder === '' ? (build?.folder ?? '') : folder;
  const folders = new Set([...(chosen === '' ? [] : [chosen]), ...(build?.folders ?? [])]);
  return (
    <div class="tabs files-head">
      <label class="folder-choice">
        <span>Build</span>
        <select value={chosen} onChange={(event) => update({ folder: event.currentTarget.value })}>
          {[...folders].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="tab-action"
        aria-label="Add a file"
        title="Add a file next to the selected one"
        onClick={() => addSource('files', { name: `${folderOf(current ?? '')}file.yaml`, text: '' })}
      >
        +
      </button>
      {current !== undefined && (
        <button
          type="button"
          class="tab-action"
          aria-label={`Remove ${current}`}
          title="Remove the selected file"
          onClick={() => removeSource('files', selected.value.files)}
        >
          ×
        </button>
      )}
      <label class="open-folder" title="Open a folder with a kustomization">
        <span aria-hidden="true">Open …</span>
        <input
          type="file"
          class="visually-hidden"
          aria-label="Open a folder"
          {...{ webkitdirectory: true }}
          onChange={(event) =>
            void openFiles(
              [...(event.currentTarget.files ?? [])].map((file) => ({ name: file.webkitRelativePath, file })),
            )
          }
        />
      </label>
    </div>
  );
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}
