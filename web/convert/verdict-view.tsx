import type { FoundDifference, ProofState } from '../engine/conversion.ts';
import { DiffLines } from '../result/diff-view.tsx';
import type { ShownConversion } from './use-conversion.ts';

interface Props {
  readonly shown: ShownConversion;
  readonly isEdited: boolean;
}

/** Whether old and new do the same, with the first difference. */
export function VerdictView({ shown, isEdited }: Props) {
  const { file, proof, error } = shown;
  const isDifferent = proof?.difference !== undefined;
  const isDone = proof !== undefined && (isDifferent || proof.compared >= proof.total);
  const hasNotes = !isEdited && file.differences.length > 0;
  const { obstacle } = file;
  const isUnproven = isDone && proof.existing === 0;
  const verdict = isDifferent || hasNotes ? 'differs' : isUnproven ? 'unproven' : 'equal';
  const colors = { differs: 'bad', unproven: '', equal: 'good' } as const;
  return (
    <section
      class="verdict"
      aria-label="Verdict"
      aria-busy={!isDone && obstacle === undefined && error === undefined}
    >
      {file.problems.length > 0 && (
        <ul class="problems" aria-label="Problems of the new policies">
          {file.problems.map(({ severity, message, line }) => (
            <li key={`${line ?? ''} ${message}`} class={severity}>
              <span class="place">line {line ?? 1}</span> {message}
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && (
        <p class="banner bad" role="alert">
          {error}
        </p>
      )}
      {error === undefined && (
        <p class="verdict-line">
          {obstacle === undefined ? (
            <>
              <span class={`badge ${isDone ? colors[verdict] : ''}`}>{isDone ? verdict : 'comparing'}</span>
              <span>
                {proof === undefined ? '…' : requestText(proof, isDone)}
                {isUnproven && ' No request changed an existing object.'}
              </span>
            </>
          ) : (
            <>
              <span class="badge">not compared</span>
              <span>{obstacle}</span>
            </>
          )}
        </p>
      )}
      {proof?.difference !== undefined && <DifferenceView difference={proof.difference} />}
    </section>
  );
}

function requestText(proof: ProofState, isDone: boolean): string {
  const { compared, total, own, changed, difference } = proof;
  if (difference !== undefined) return `Request ${compared} of ${total} has another result.`;
  if (!isDone) return `${compared} of ${total} requests`;
  return `The same result on ${total} requests: ${own} of your objects, ${total - own} generated. The old policies change ${changed} of them.`;
}

function DifferenceView({ difference }: { readonly difference: FoundDifference }) {
  const { request, message, rule, clause, expression, object, lines } = difference;
  const fields = [
    ['Request', request],
    ['Reason', message],
    ['Rule', rule],
    ['At fault', clause],
  ] as const;
  return (
    <div class="difference">
      <dl>
        {fields.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {expression !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre tabIndex={0} role="region" aria-label="Expression at fault">
          {expression.trimEnd()}
        </pre>
      )}
      <details>
        <summary>Object of the request</summary>
        <pre class="text">{object}</pre>
      </details>
      <div class="column-titles" aria-hidden="true">
        <span>Old result</span>
        <span>New result</span>
      </div>
      <DiffLines lines={lines} split={true} />
    </div>
  );
}
