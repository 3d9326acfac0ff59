import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { DiffLine, EvaluatedObject } from '../engine/evaluation.ts';
import { engine, goToLocation } from '../state/playground.ts';
import { foldRows, pairRows, type Row } from './rows.ts';
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
  /** The ids of new lines that something else refers to. They are not folded. */
  readonly anchors?: ReadonlyMap<number, string> | undefined;
  readonly isWhole?: boolean | undefined;
}

const noAnchors: ReadonlyMap<number, string> = new Map();

export function DiffLines({ lines, split, anchors = noAnchors, isWhole = false }: LinesProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const rows = foldRows(
    lines,
    open,
    new Set(isWhole ? lines.map(({ after = -1 }) => after) : anchors.keys()),
  );
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
        {rows.map((row, at) =>
          row.type === 'fold' ? (
            fold(row)
          ) : (
            <UnifiedLine
              key={row.index}
              line={row.line}
              id={anchors.get(row.line.after ?? -1)}
              isRepeated={repeats(row.line, rows[at - 1])}
            />
          ),
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

interface UnifiedLineProps {
  readonly line: DiffLine;
  readonly id: string | undefined;
  readonly isRepeated: boolean;
}

function UnifiedLine({ line, id, isRepeated }: UnifiedLineProps) {
  const end = id === undefined ? {} : { id, tabIndex: -1 };
  return (
    <div
      class={`line ${line.kind}${id === undefined ? '' : ' end'}`}
      data-line={line.after ?? line.before}
      {...end}
    >
      <span class="number">{line.kind === 'removed' ? '' : line.after}</span>
      <span class="sign">{signs[line.kind]}</span>
      <code>{line.text || ' '}</code>
      <Writers line={line} isRepeated={isRepeated} />
    </div>
  );
}

/** Of unchanged lines with the same writer, only the first one names it. */
function repeats(line: DiffLine, previous: Row | undefined): boolean {
  if (line.kind !== 'same' || previous?.type !== 'line') return false;
  return previous.line.writers.at(-1)?.name === line.writers.at(-1)?.name;
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
function Writers({ line, isRepeated = false }: { readonly line: DiffLine; readonly isRepeated?: boolean }) {
  const last = line.writers.at(-1);
  if (last === undefined) return null;
  const { name, at } = last;
  const earlier = line.writers.slice(0, -1).map((writer) => writer.name);
  const before = earlier.length === 0 ? '' : `; before it wrote ${earlier.join(', ')}`;
  return (
    <button
      type="button"
      class={`writer hue-${hueOf(name)}${isRepeated ? ' again' : ''}`}
      title={`${at === undefined ? name : `Go to ${name}`}${before}`}
      disabled={at === undefined}
      onClick={() => at && void goToLocation(at)}
    >
      <span class={isRepeated ? 'visually-hidden' : ''}>
        {name}
        {earlier.length > 0 && <span class="earlier"> +{earlier.length}</span>}
      </span>
    </button>
  );
}

const hues = new Map<string, number>();

/** One of eight colors. A writer keeps its color. */
function hueOf(name: string): number {
  const hue = hues.get(name) ?? hues.size % 8;
  hues.set(name, hue);
  return hue;
}
