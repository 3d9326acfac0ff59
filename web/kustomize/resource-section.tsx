import { useEffect, useState } from 'preact/hooks';
import type { DiffLine, ShownReplacement, StageResource } from '../engine/evaluation.ts';
import { DiffLines } from '../result/diff-view.tsx';
import { engine } from '../state/playground.ts';
import { lineId } from './line-id.ts';
import { isWhole } from './state.ts';

interface Props {
  readonly stage: number;
  readonly isLast: boolean;
  /** The index in the view. */
  readonly at: number;
  readonly resource: StageResource;
  readonly replacements: readonly ShownReplacement[];
}

const marks = {
  added: 'added',
  changed: 'changed',
  removed: 'removed',
  joined: 'from another kustomization',
  same: '',
} as const;

/** One resource. Those that the stage does not concern are closed. */
export function ResourceSection({ stage, isLast, at, resource, replacements }: Props) {
  const [opened, setOpened] = useState<readonly DiffLine[]>();
  const lines = resource.lines ?? opened;
  // Another result has other lines.
  useEffect(() => setOpened(undefined), [resource]);
  const open = () => void engine.run('stageLines', { stage, resource: at }).then(setOpened, () => undefined);
  return (
    <section class={`stage-resource ${resource.status}`} aria-label={resource.title}>
      <h3>
        {lines === undefined ? (
          <button type="button" class="link" aria-expanded={false} onClick={open}>
            {resource.title}
          </button>
        ) : (
          resource.title
        )}
        {marks[resource.status] !== '' && (
          <span class={`badge ${resource.status}`}>{marks[resource.status]}</span>
        )}
      </h3>
      {lines !== undefined && (
        <DiffLines
          lines={lines}
          split={false}
          anchors={anchorsOf(at, replacements)}
          isWhole={isWhole.value || (isLast && resource.status === 'same')}
        />
      )}
    </section>
  );
}

/** The lines at which arrows begin or end. */
function anchorsOf(at: number, replacements: readonly ShownReplacement[]): ReadonlyMap<number, string> {
  const ends = replacements.flatMap(({ source, targets }) =>
    source === undefined ? targets : [source, ...targets],
  );
  return new Map(
    ends.flatMap(({ resource, line }) =>
      resource === at && line !== undefined ? [[line, lineId(resource, line)] as const] : [],
    ),
  );
}
