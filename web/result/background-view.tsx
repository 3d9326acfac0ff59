import type { BackgroundChange } from '../engine/evaluation.ts';
import { DiffLines } from './diff-view.tsx';

const verbs = { create: 'creates', update: 'changes', delete: 'deletes' } as const;

/** What mutate existing and generate rules do after admission. */
export function BackgroundView({ changes }: { readonly changes: readonly BackgroundChange[] }) {
  if (changes.length === 0) return null;
  return (
    <section class="background" aria-label="After admission">
      <h3>After admission</h3>
      {changes.map(({ title, action, rules, lines }) => (
        <div key={title}>
          <p>
            <span class="muted">{rules.join(', ')}</span> {verbs[action]} <strong>{title}</strong>
          </p>
          <DiffLines lines={lines} split={false} />
        </div>
      ))}
    </section>
  );
}
