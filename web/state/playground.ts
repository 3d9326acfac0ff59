import { signal } from '@preact/signals';
import { createEngineClient, ReplacedError, StuckError } from '../engine/client.ts';
import type { Evaluation, SourceLocation } from '../engine/evaluation.ts';
import { freeName, type SourceRole, type SourceText, type Workspace } from '../engine/workspace.ts';
import { starterWorkspace } from './starter.ts';

/** Several times what the budget of the engine allows one policy, also on a slow machine. */
const stuckAfter = 10_000;

export const workspace = signal<Workspace>(starterWorkspace);
export const evaluation = signal<Evaluation | undefined>(undefined);
export const isRunning = signal(false);
/** Why there is no result, if the worker failed. */
export const engineError = signal<string | undefined>(undefined);
/** The selected tab of each editor. */
export const selected = signal<Readonly<Record<SourceRole, number>>>({
  policies: 0,
  resources: 0,
  context: 0,
  files: 0,
});
export const selectedObject = signal(0);
/** Where an editor must put its cursor. A new object for each jump. */
export const jump = signal<Jump | undefined>(undefined);
/** Increased when the texts come from elsewhere than the editors. */
export const loadedTexts = signal(0);
/** Whether the page shows the server instead of the editors. */
export const isLive = signal(false);
/** On a narrow page: the part that is visible. */
export const visiblePart = signal<'policies' | 'resources' | 'result'>('policies');

export interface Jump {
  readonly role: SourceRole;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export const engine = createEngineClient(
  () => new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module' }),
  stuckAfter,
);

/** Evaluates the workspace. While an evaluation runs, only the newest change waits. */
export async function evaluate(): Promise<void> {
  const input = workspace.value;
  isRunning.value = true;
  try {
    const startedAt = performance.now();
    const result = await engine.run('evaluate', input);
    measureEvaluation(startedAt);
    engineError.value = undefined;
    evaluation.value = result;
    selectedObject.value = Math.min(selectedObject.value, Math.max(result.objects.length - 1, 0));
  } catch (error) {
    if (error instanceof ReplacedError) return;
    engineError.value =
      error instanceof StuckError
        ? 'The evaluation did not end and was stopped. Change the policy to try again.'
        : `The evaluation failed: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    isRunning.value = workspace.value !== input;
  }
}

const keptMeasures = 500;

/** For `npm run bench:web`, and for the developer tools of the browser. */
function measureEvaluation(startedAt: number): void {
  const name = 'kymera-evaluation';
  if (performance.getEntriesByName(name).length >= keptMeasures) performance.clearMeasures(name);
  performance.measure(name, { start: startedAt });
}

export function update(change: Partial<Workspace>): void {
  workspace.value = { ...workspace.value, ...change };
  void evaluate();
}

/** Replaces everything: an example, a link, files that changed. */
export function openWorkspace(next: Workspace): void {
  workspace.value = next;
  selected.value = { policies: 0, resources: 0, context: 0, files: kustomizationIndex(next) };
  selectedObject.value = 0;
  loadedTexts.value++;
  void evaluate();
}

/** The kustomization that is built. */
function kustomizationIndex({ files, folder = '.' }: Workspace): number {
  const prefix = folder === '.' ? '' : `${folder}/`;
  const at = files.findIndex(({ name }) => /^kustomization(?:\.ya?ml)?$/i.test(withoutPrefix(name, prefix)));
  return Math.max(at, 0);
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : '/';
}

/** Texts that changed on disk. The selection stays. */
export function replaceSources(change: Partial<Workspace>): void {
  update(change);
  loadedTexts.value++;
}

export function editSource(role: SourceRole, index: number, text: string): void {
  const sources = workspace.value[role];
  if (sources[index] === undefined || sources[index].text === text) return;
  update({ [role]: sources.map((source, at) => (at === index ? { ...source, text } : source)) });
}

export function addSource(role: SourceRole, source: SourceText): void {
  const sources = workspace.value[role];
  const added = { ...source, name: freeName(source.name, sources) };
  update({ [role]: [...sources, added] });
  selected.value = { ...selected.value, [role]: sources.length };
  loadedTexts.value++;
}

export function removeSource(role: SourceRole, index: number): void {
  const sources = workspace.value[role].filter((_, at) => at !== index);
  selected.value = { ...selected.value, [role]: Math.max(0, Math.min(index, sources.length - 1)) };
  update({ [role]: sources });
  loadedTexts.value++;
}

export function renameSource(role: SourceRole, index: number, name: string): void {
  const sources = workspace.value[role];
  const others = sources.filter((_, at) => at !== index);
  if (name.trim() === '') return;
  const free = freeName(name.trim(), others);
  update({ [role]: sources.map((source, at) => (at === index ? { ...source, name: free } : source)) });
}

/** Selects the source and puts the cursor of its editor at the position. */
export function goTo(target: Jump): void {
  const index = workspace.value[target.role].findIndex(({ name }) => name === target.file);
  if (index < 0) return;
  selected.value = { ...selected.value, [target.role]: index };
  visiblePart.value = target.role === 'policies' ? 'policies' : 'resources';
  jump.value = target;
}

export async function goToLocation(location: SourceLocation): Promise<void> {
  const source = workspace.value[location.role].find(({ name }) => name === location.file);
  if (source === undefined) return;
  const { role, file, line, path } = location;
  const position = await engine.run('locate', { source, line, path });
  goTo({ role, file, ...position });
}
