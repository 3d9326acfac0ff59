import { signal } from '@preact/signals';
import type { EvaluatedObject } from '../engine/evaluation.ts';
import { evaluation } from '../state/playground.ts';

/** After how many rules the object is shown; undefined shows the end. */
export const step = signal<{ readonly object: number; readonly count: number } | undefined>(undefined);

/** A slider through the rules that changed the object. */
export function Stepper({ object }: { readonly object: EvaluatedObject }) {
  const index = evaluation.value?.objects.indexOf(object) ?? 0;
  const { steps } = object;
  if (steps.length < 2) return null;
  const chosen = step.value?.object === index ? step.value.count : steps.length;
  const count = Math.min(chosen, steps.length);
  const last = steps[count - 1];
  return (
    <label class="stepper">
      <span>After rule</span>
      <input
        type="range"
        min={0}
        max={steps.length}
        value={count}
        aria-valuetext={last?.name ?? 'before all rules'}
        onInput={(event) => {
          const value = Number(event.currentTarget.value);
          step.value = value === steps.length ? undefined : { object: index, count: value };
        }}
      />
      <output>
        {count} of {steps.length}: {last?.name ?? 'before all rules'}
      </output>
    </label>
  );
}
