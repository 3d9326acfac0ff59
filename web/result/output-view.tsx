import { useEffect, useState } from 'preact/hooks';
import type { Evaluation } from '../engine/evaluation.ts';
import { engine } from '../state/playground.ts';
import { TextView } from './text-view.tsx';

/** The output of the command line, which the worker prints only while this view is open. */
export function OutputView({ result }: { readonly result: Evaluation }) {
  const [text, setText] = useState('');
  // A new result has a new output.
  useEffect(() => {
    let isCurrent = true;
    engine.run('output', undefined).then(
      (output) => {
        if (isCurrent) setText(output);
      },
      // A newer evaluation replaced it or ended the worker.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [result]);
  const label =
    result.build === undefined ? 'Output of kymera apply -o yaml' : 'Output of kymera build --policies';
  return <TextView text={text} name="mutated.yaml" label={label} />;
}
