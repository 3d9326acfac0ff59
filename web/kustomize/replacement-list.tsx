import type { FieldEnd, ShownReplacement } from '../engine/evaluation.ts';
import { goToLocation } from '../state/playground.ts';
import { goToLine } from './line-id.ts';
import { pointed } from './state.ts';

const mostShown = 50;

/** The replacements as text: what the arrows show, with links to both ends. */
export function ReplacementList({ replacements }: { readonly replacements: readonly ShownReplacement[] }) {
  if (replacements.length === 0) return null;
  return (
    <section class="replacements" aria-label="Replacements">
      <h3>Replacements</h3>
      <ul>
        {replacements.slice(0, mostShown).map((replacement, index) => (
          <li
            key={index}
            class={`hue-${index % 8}`}
            onMouseEnter={() => (pointed.value = index)}
            onMouseLeave={() => (pointed.value = undefined)}
            onFocusCapture={() => (pointed.value = index)}
            onBlurCapture={() => (pointed.value = undefined)}
          >
            <button type="button" class="jump" onClick={() => void goToLocation(replacement.at)}>
              {replacement.name}
            </button>{' '}
            <code>{replacement.value}</code>
            {replacement.source !== undefined && (
              <>
                {' from '}
                <End end={replacement.source} />
              </>
            )}
            <Targets targets={replacement.targets} />
          </li>
        ))}
        {replacements.length > mostShown && (
          <li class="muted">… and {replacements.length - mostShown} more</li>
        )}
      </ul>
    </section>
  );
}

function Targets({ targets }: { readonly targets: readonly FieldEnd[] }) {
  if (targets.length === 0) return <p class="muted">It selects no field.</p>;
  return (
    <ul class="targets">
      {targets.slice(0, mostShown).map((target, index) => (
        <li key={index}>
          <span aria-hidden="true">→ </span>
          <End end={target} />
          {target.options !== '' && <span class="muted"> ({target.options})</span>}
        </li>
      ))}
      {targets.length > mostShown && <li class="muted">… and {targets.length - mostShown} more</li>}
    </ul>
  );
}

function End({ end }: { readonly end: FieldEnd }) {
  const { resource, line, title, path } = end;
  const text = (
    <>
      {title} <code>{path}</code>
    </>
  );
  if (line === undefined)
    return (
      <span>
        {text} <span class="muted">changed later</span>
      </span>
    );
  return (
    <button type="button" class="link" onClick={() => goToLine(resource, line)}>
      {text}
    </button>
  );
}
