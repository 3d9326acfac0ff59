import { useEffect, useRef } from 'preact/hooks';
import type { StageSummary } from '../engine/evaluation.ts';
import { goToLocation } from '../state/playground.ts';
import { stageIndex } from './state.ts';

interface Props {
  readonly stages: readonly StageSummary[];
  readonly index: number;
}

/** A slider through the stages, and the list of them by kustomization. */
export function StageList({ stages, index }: Props) {
  const current = stages[index];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest' });
  }, [index, stages.length]);
  const select = (next: number) => {
    stageIndex.value = next >= stages.length - 1 ? undefined : Math.max(next, 0);
  };
  return (
    <div class="stage-list">
      <div class="stepper">
        <label>
          <span class="visually-hidden">Stage</span>
          <input
            type="range"
            min={0}
            max={stages.length - 1}
            value={index}
            aria-valuetext={current === undefined ? '' : nameOf(current)}
            onInput={(event) => select(Number(event.currentTarget.value))}
          />
        </label>
        <output>
          {index + 1} of {stages.length}: {current === undefined ? '' : nameOf(current)}
        </output>
        <span class="stage-links">
          {[current?.at, current?.source].map(
            (at) =>
              at !== undefined && (
                <button
                  key={`${at.file} ${at.path}`}
                  type="button"
                  class="jump"
                  onClick={() => void goToLocation(at)}
                >
                  {at.file}
                </button>
              ),
          )}
        </span>
      </div>
      <div class="stage-groups" ref={list} role="group" aria-label="Stages">
        {groupsOf(stages).map(({ folder, from, members }) => (
          <div key={from} class="stage-group">
            <span class="stage-folder">{folder === '.' ? './' : folder}</span>
            <ol start={from + 1}>
              {members.map((stage, at) => (
                <li key={from + at}>
                  <button
                    type="button"
                    class="chip"
                    aria-pressed={from + at === index}
                    title={stage.source?.file}
                    onClick={() => select(from + at)}
                  >
                    {stage.title}
                    <Counts stage={stage} />
                  </button>
                </li>
              ))}
            </ol>
          </div>
        ))}
      </div>
    </div>
  );
}

const counts = [
  ['added', 'added', '+', 'added'],
  ['joined', 'joined', '⊕', 'from another kustomization'],
  ['changed', 'changed', '~', 'changed'],
  ['removed', 'removed', '−', 'removed'],
  ['replacements', 'replaced', '→', 'replacements'],
] as const;

function Counts({ stage }: { readonly stage: StageSummary }) {
  return (
    <>
      {counts.map(([field, kind, sign, text]) =>
        stage[field] === 0 ? null : (
          <span key={field} class={`stage-count ${kind}`}>
            <span aria-hidden="true">
              {sign}
              {stage[field]}
            </span>
            <span class="visually-hidden">
              , {stage[field]} {text}
            </span>
          </span>
        ),
      )}
    </>
  );
}

function nameOf({ folder, title }: StageSummary): string {
  return folder === '' || folder === '.' ? title : `${folder} › ${title}`;
}

interface Group {
  readonly folder: string;
  readonly from: number;
  readonly members: StageSummary[];
}

/** Consecutive stages of the same kustomization. */
function groupsOf(stages: readonly StageSummary[]): readonly Group[] {
  const groups: Group[] = [];
  for (const [index, stage] of stages.entries()) {
    const last = groups.at(-1);
    if (last?.folder === stage.folder) last.members.push(stage);
    else groups.push({ folder: stage.folder, from: index, members: [stage] });
  }
  return groups;
}
