import { useSignal } from '@preact/signals';
import { CodeEditor } from '../editor/code-editor.tsx';
import type { EditorRole } from '../engine/workspace.ts';
import { FileList } from '../kustomize/file-list.tsx';
import { FilesHead } from '../kustomize/files-head.tsx';
import { addSource, evaluation, selected, workspace } from '../state/playground.ts';
import { TestForm } from '../tests/test-form.tsx';
import { ContextForm } from './context-form.tsx';
import { InputSwitch } from './input-switch.tsx';
import { RequestFields } from './request-fields.tsx';
import { SourceTabs } from './source-tabs.tsx';

type View = 'source' | 'request' | 'context' | 'tests';

const starters: Readonly<Record<'policies' | 'resources', { name: string; text: string }>> = {
  policies: {
    name: 'policy.yaml',
    text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: my-policy
spec:
  rules:
  - name: add-label
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            +(team): unassigned
`,
  },
  resources: {
    name: 'object.yaml',
    text: 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: example\nspec:\n  containers:\n  - name: app\n    image: nginx\n',
  },
};

/** One of the two editors with its tabs. */
export function InputPane({ of: role, title }: { readonly of: EditorRole; readonly title: string }) {
  const view = useSignal<View>('source');
  const sources = workspace.value[role];
  const index = selected.value[role];
  const problems = evaluation.value?.problems ?? [];
  const reads = evaluation.value?.reads ?? [];
  const missing = reads.filter(({ found }) => !found).length;
  const isSource = view.value === 'source';
  return (
    <section class="pane" data-role={role} aria-label={title}>
      <div class="pane-head">
        <h2 class={role === 'policies' ? '' : 'visually-hidden'}>{title}</h2>
        {role !== 'policies' && <InputSwitch />}
        {role === 'files' ? (
          <FilesHead />
        ) : (
          <SourceTabs
            role={role}
            isActive={isSource}
            onSelect={() => {
              view.value = 'source';
            }}
            onAdd={() => addSource(role, starters[role])}
          />
        )}
        {role !== 'policies' && (
          <div class="side-tabs" role="group" aria-label="Request and context">
            <ViewButton view={view.value} own="request" onSelect={(own) => (view.value = own)}>
              Request
            </ViewButton>
            <ViewButton view={view.value} own="context" onSelect={(own) => (view.value = own)}>
              Context
              {reads.length > 0 && <span class={missing > 0 ? 'count bad' : 'count'}>{reads.length}</span>}
            </ViewButton>
            {workspace.value.tests.length > 0 && (
              <ViewButton view={view.value} own="tests" onSelect={(own) => (view.value = own)}>
                Test files
              </ViewButton>
            )}
          </div>
        )}
      </div>
      <div class={`pane-body ${role === 'files' && isSource ? 'files-body' : ''}`}>
        {role === 'files' && isSource && <FileList />}
        {isSource && sources.length === 0 && <EmptySources role={role} />}
        <div class="editor-host" hidden={!isSource || sources.length === 0}>
          <CodeEditor role={role} index={index} problems={problems} />
        </div>
        {view.value === 'request' && <RequestFields />}
        {view.value === 'context' && <ContextForm />}
        {view.value === 'tests' && <TestForm />}
      </div>
    </section>
  );
}

interface ViewButtonProps {
  readonly view: View;
  readonly own: View;
  onSelect(view: View): void;
  readonly children: preact.ComponentChildren;
}

function ViewButton({ view, own, onSelect, children }: ViewButtonProps) {
  const isActive = view === own;
  return (
    <button
      type="button"
      class="tab"
      aria-pressed={isActive}
      onClick={() => onSelect(isActive ? 'source' : own)}
    >
      {children}
    </button>
  );
}

const contents = { policies: 'policy', resources: 'object', files: 'file' } as const;

function EmptySources({ role }: { readonly role: EditorRole }) {
  const what = contents[role];
  return (
    <div class="empty">
      <p>No {what} yet.</p>
      <p class="muted">Add one with +, drop YAML files here, or open an example from the gallery.</p>
    </div>
  );
}
