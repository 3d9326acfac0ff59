import { useEffect, useRef, useState } from 'preact/hooks';
import type { BuildResult, Evaluation, StageView } from '../engine/evaluation.ts';
import { engine } from '../state/playground.ts';
import { Arrows } from './arrows.tsx';
import './kustomize.css';
import { ReplacementList } from './replacement-list.tsx';
import { ResourceSection } from './resource-section.tsx';
import { StageList } from './stage-list.tsx';
import { isWhole, stageIndex } from './state.ts';

/** The resources of a build after each stage, with the stage that wrote each line. */
export function StagesView({ result, build }: { readonly result: Evaluation; readonly build: BuildResult }) {
  const count = build.stages.length;
  const index = Math.min(stageIndex.value ?? count - 1, count - 1);
  const view = useStage(result, index);
  const host = useRef<HTMLDivElement>(null);
  if (count === 0) return null;
  const shown = view?.replacements ?? [];
  const hasArrows = shown.some(
    ({ source, targets }) => source?.line !== undefined && targets.some(({ line }) => line !== undefined),
  );
  return (
    <div class="stages">
      <StageList stages={build.stages} index={index} />
      <div class="toolbar">
        <span class="muted">Each line names the file, field or rule that wrote it.</span>
        <div class="segments" role="group" aria-label="Lines of the resources">
          <button type="button" aria-pressed={!isWhole.value} onClick={() => (isWhole.value = false)}>
            Changes
          </button>
          <button type="button" aria-pressed={isWhole.value} onClick={() => (isWhole.value = true)}>
            All lines
          </button>
        </div>
      </div>
      <ReplacementList replacements={shown} />
      <div class={`stage-resources ${hasArrows ? 'with-arrows' : ''}`} ref={host}>
        {view?.resources.map((resource, at) => (
          <ResourceSection
            key={`${index} ${at} ${resource.title}`}
            stage={index}
            isLast={index === count - 1}
            at={at}
            resource={resource}
            replacements={shown}
          />
        ))}
        {hasArrows && <Arrows host={host} replacements={shown} />}
      </div>
    </div>
  );
}

/** The stage of the current result. The previous one stays until it has arrived. */
function useStage(result: Evaluation, index: number): StageView | undefined {
  const [view, setView] = useState<StageView>();
  useEffect(() => {
    let isCurrent = true;
    engine.run('stage', index).then(
      (found) => {
        if (isCurrent) setView(found);
      },
      // A newer evaluation replaced it or ended the worker.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [result, index]);
  return view;
}
