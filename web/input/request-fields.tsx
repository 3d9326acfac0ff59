import type { Operation, RequestForm } from '../engine/workspace.ts';
import { evaluation, update, workspace } from '../state/playground.ts';

const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];

/** The form for the request: who sends the object, and how. */
export function RequestFields() {
  const { request } = workspace.value;
  const set = (change: Partial<RequestForm>) => update({ request: { ...request, ...change } });
  const problems = (evaluation.value?.problems ?? []).filter(({ role }) => role === 'request');
  return (
    <form class="form" aria-label="Request" onSubmit={(event) => event.preventDefault()}>
      {problems.map(({ message }) => (
        <p key={message} class="problem" role="alert">
          {message}
        </p>
      ))}
      <fieldset>
        <legend>Operation</legend>
        <div class="choices">
          {operations.map((operation) => (
            <label key={operation}>
              <input
                type="radio"
                name="operation"
                checked={request.operation === operation}
                onChange={() => set({ operation })}
              />
              {operation}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label="User"
        hint="ada@example.com"
        value={request.username}
        onInput={(username) => set({ username })}
      />
      <TextField
        label="Groups"
        hint="system:authenticated, developers"
        value={request.groups}
        onInput={(groups) => set({ groups })}
      />
      <TextField label="Roles" hint="shop:editor" value={request.roles} onInput={(roles) => set({ roles })} />
      <TextField
        label="Cluster roles"
        hint="view, edit"
        value={request.clusterRoles}
        onInput={(clusterRoles) => set({ clusterRoles })}
      />
      <AreaField
        label="Labels of the namespace"
        hint={'team=shop\nenvironment=production'}
        value={request.namespaceLabels}
        onInput={(namespaceLabels) => set({ namespaceLabels })}
      />
      <AreaField
        label="Old object (YAML; the fields that differ are enough)"
        hint={'spec:\n  replicas: 1'}
        value={request.oldObject}
        onInput={(oldObject) => set({ oldObject })}
      />
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  onInput(value: string): void;
}

function TextField({ label, hint, value, onInput }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        value={value}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

function AreaField({ label, hint, value, onInput }: FieldProps) {
  return (
    <label class="field wide">
      <span>{label}</span>
      <textarea
        rows={4}
        value={value}
        placeholder={hint}
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
