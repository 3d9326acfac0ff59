import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { emptyWorkspace } from '../engine/workspace.ts';
import { openWorkspace } from '../state/playground.ts';
import type { Example } from './example.ts';
import { searchExamples } from './search.ts';

export const isGalleryOpen = signal(false);

/** A dialog with all examples. Its data is loaded when it opens. */
export function GalleryDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [examples, setExamples] = useState<readonly Example[]>();
  const [query, setQuery] = useState('');
  const isOpen = isGalleryOpen.value;
  useEffect(() => {
    if (!isOpen) return dialog.current?.close();
    dialog.current?.showModal();
    void import('virtual:gallery').then((module) => setExamples(module.examples));
  }, [isOpen]);
  const open = (example: Example) => {
    isGalleryOpen.value = false;
    history.replaceState(undefined, '', `#example=${example.id}`);
    openWorkspace({ ...emptyWorkspace, ...example.workspace });
  };
  const found = searchExamples(examples ?? [], query);
  const groups = [...new Set(found.map(({ group }) => group))];
  return (
    <dialog
      ref={dialog}
      class="gallery"
      aria-label="Gallery"
      onClose={() => {
        isGalleryOpen.value = false;
      }}
    >
      {isOpen && (
        <div class="gallery-body">
          <div class="gallery-head">
            <input
              type="search"
              placeholder="Search examples: labels, foreach, image …"
              aria-label="Search examples"
              value={query}
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
            <button
              type="button"
              class="button"
              onClick={() => {
                isGalleryOpen.value = false;
              }}
            >
              Close
            </button>
          </div>
          <div class="gallery-list">
            {examples !== undefined && found.length === 0 && <p class="empty muted">No example matches.</p>}
            {groups.map((group) => (
              <section key={group} aria-label={group}>
                <h2>{group}</h2>
                <ul>
                  {found
                    .filter((example) => example.group === group)
                    .map((example) => (
                      <li key={example.id}>
                        <button type="button" class="card" onClick={() => open(example)}>
                          <strong>{example.title}</strong>
                          <span>{example.description}</span>
                        </button>
                      </li>
                    ))}
                </ul>
              </section>
            ))}
          </div>
        </div>
      )}
    </dialog>
  );
}
