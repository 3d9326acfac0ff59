import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { DiffLine, EvaluatedObject, WriterName } from '../engine/evaluation.ts';
import { engine, goToLocation } from '../state/playground.ts';
import { foldRows, pairRows } from './rows.ts';
import { step } from './stepper.tsx';

const isSplit = signal(false);

/** Before and after, each changed line with the rule that wrote it. */
export function DiffView({ object }: { readonly object: EvaluatedObject }) {
  const lines = useStepLines(object);
  const hasChange = lines.some(({ kind }) => kind !== 'same');
  return (
    <>
      <div class="toolbar">
        <span class="muted">
          {hasChange
            ? 'Each changed line names its policy and rule.'
            : 'No rule changed this object. See Why.'}
        </span>
        <div class="segments" role="group" aria-label="Layout of the changes">
          <button type="button" aria-pressed={!isSplit.value} onClick={() => (isSplit.value = false)}>
            Unified
          </button>
          <button type="button" aria-pressed={isSplit.value} onClick={() => (isSplit.value = true)}>
            Side by side
          </button>
        </div>
      </div>
      <DiffLines lines={lines} split={isSplit.value} />
    </>
  );
}

/** The lines after the rules that the slider selects. */
function useStepLines(object: EvaluatedObject): readonly DiffLine[] {
  const [lines, setLines] = useState<{ of: EvaluatedObject; count: number; lines: readonly DiffLine[] }>();
  const count = step.value?.count;
  const index = step.value?.object ?? 0;
  useEffect(() => {
    if (count === undefined) return;
    let isCurrent = true;
    engine.run('step', { object: index, count }).then(
      (found) => {
        if (isCurrent) setLines({ of: object, count, lines: found });
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [object, index, count]);
  if (count === undefined || lines === undefined || lines.of !== object) return object.lines;
  return lines.lines;
}

interface LinesProps {
  readonly lines: readonly DiffLine[];
  readonly split: boolean;
}

export function DiffLines({ lines, split }: LinesProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const rows = foldRows(lines, open);
  const fold = (row: { from: number; count: number }) => (
    <button
      key={`fold ${row.from}`}
      type="button"
      class="fold"
      onClick={() => setOpen(new Set([...open, row.from]))}
    >
      {row.count} unchanged lines
    </button>
  );
  if (!split) {
    return (
      <div class="diff" role="group" aria-label="Changes">
        {rows.map((row) =>
          row.type === 'fold' ? fold(row) : <UnifiedLine key={row.index} line={row.line} />,
        )}
      </div>
    );
  }
  return (
    <div class="diff split" role="group" aria-label="Changes, side by side">
      {pairRows(rows).map((row, index) =>
        'type' in row ? (
          fold(row)
        ) : (
          <div class="pair" key={index}>
            <SplitLine line={row.left} side="before" />
            <SplitLine line={row.right} side="after" />
          </div>
        ),
      )}
    </div>
  );
}

const signs = { same: ' ', added: '+', removed: '-' } as const;

function UnifiedLine({ line }: { readonly line: DiffLine }) {
  return (
    <div class={`line ${line.kind}`} data-line={line.after ?? line.before}>
      <span class="number">{line.kind === 'removed' ? '' : line.after}</span>
      <span class="sign">{signs[line.kind]}</span>
      <code>{line.text || ' '}</code>
      <Writers line={line} />
    </div>
  );
}

function SplitLine({
  line,
  side,
}: {
  readonly line: DiffLine | undefined;
  readonly side: 'before' | 'after';
}) {
  if (line === undefined) return <div class="line blank" />;
  return (
    <div class={`line ${line.kind}`}>
      <span class="number">{line[side]}</span>
      <code>{line.text || ' '}</code>
      {(side === 'after' || line.kind === 'removed') && <Writers line={line} />}
    </div>
  );
}

/** The rule that wrote the line; earlier writers in the tooltip. */
function Writers({ line }: { readonly line: DiffLine }) {
  const last = line.writers.at(-1);
  if (last === undefined) return null;
  const earlier = line.writers.slice(0, -1).map(nameOf);
  const title = `Go to rule ${last.rule}${earlier.length === 0 ? '' : `; before it wrote ${earlier.join(', ')}`}`;
  return (
    <button
      type="button"
      class={`writer hue-${hueOf(last)}`}
      title={title}
      onClick={() => void goToLocation(last.at)}
    >
      {nameOf(last)}
      {earlier.length > 0 && <span class="earlier"> +{earlier.length}</span>}
    </button>
  );
}

function nameOf({ policy, rule }: WriterName): string {
  return `${policy} › ${rule}`;
}

const hues = new Map<string, number>();

/** One of eight colors. A rule keeps its color. */
function hueOf(writer: WriterName): number {
  const name = nameOf(writer);
  const hue = hues.get(name) ?? hues.size % 8;
  hues.set(name, hue);
  return hue;
}
