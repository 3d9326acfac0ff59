import { useEffect, useState } from 'preact/hooks';
import type { Comparison } from '../engine/conversion.ts';
import { DiffLines } from '../result/diff-view.tsx';
import { engine, selectedObject } from '../state/playground.ts';
import type { ShownConversion } from './use-conversion.ts';

interface Props {
  readonly shown: ShownConversion | undefined;
  readonly kind: string;
}

/** What the old and the new policies make of the selected object, next to each other. */
export function ResultComparison({ shown, kind }: Props) {
  const [comparison, setComparison] = useState<Comparison>();
  const index = selectedObject.value;
  const file = shown?.file;
  useEffect(() => {
    if (file === undefined) return;
    let isCurrent = true;
    engine.run('compare', index).then(
      (found) => {
        if (isCurrent) setComparison(found);
      },
      // A newer evaluation replaced it or ended the worker.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [file, index]);
  if (comparison === undefined) return null;
  return (
    <section class="sides" aria-label="Old and new result">
      <Side title="Old" note="the policies of the file" lines={comparison.old} />
      <Side title="New" note={kind} lines={comparison.converted} isDifferent={!comparison.isSame} />
    </section>
  );
}

interface SideProps {
  readonly title: string;
  readonly note: string;
  readonly lines: Comparison['old'];
  readonly isDifferent?: boolean;
}

function Side({ title, note, lines, isDifferent = false }: SideProps) {
  return (
    <div class="side">
      <h3>
        {title} <span class="muted">{note}</span>
        {isDifferent && <span class="badge bad">differs</span>}
      </h3>
      <DiffLines lines={lines} split={false} />
    </div>
  );
}
