import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GalleryDialog } from './gallery/dialog.tsx';
import { Header } from './header.tsx';
import { acceptDrops } from './input/drop.ts';
import { InputPane } from './input/pane.tsx';
import { ResultPane } from './result/pane.tsx';
import { isLive, visiblePart, workspace } from './state/playground.ts';

const parts = [
  ['policies', 'Policies'],
  ['resources', 'Input'],
  ['result', 'Result'],
] as const;

export function App() {
  useEffect(acceptDrops, []);
  if (isLive.value) {
    return (
      <div class="page">
        <Header />
        <Live />
      </div>
    );
  }
  return (
    <div class="page" data-part={visiblePart.value}>
      <Header />
      <nav class="parts" aria-label="Parts of the page">
        {parts.map(([part, title]) => (
          <button
            key={part}
            type="button"
            aria-pressed={visiblePart.value === part}
            onClick={() => {
              visiblePart.value = part;
            }}
          >
            {title}
          </button>
        ))}
      </nav>
      <main class="columns">
        <div class="inputs">
          <InputPane of="policies" title="Policies" />
          {workspace.value.folder === undefined ? (
            <InputPane key="resources" of="resources" title="Objects" />
          ) : (
            <InputPane key="files" of="files" title="Kustomization" />
          )}
        </div>
        <ResultPane />
      </main>
      <GalleryDialog />
    </div>
  );
}

/** The live view is loaded when it is opened. */
function Live() {
  const [View, setView] = useState<FunctionComponent>();
  useEffect(() => {
    void import('./live/view.tsx').then(({ LiveView }) => setView(() => LiveView));
  }, []);
  return View === undefined ? null : <View />;
}
