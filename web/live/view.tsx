import { useState } from 'preact/hooks';
import './live.css';
import { Plot } from './plot.tsx';
import {
  closeLive,
  history,
  type LiveDecision,
  live,
  liveError,
  openDecision,
  openLive,
  token,
} from './state.ts';

/** A read-only view of the server that serves this page. */
export function LiveView() {
  const state = live.value;
  return (
    <main class="live" aria-label="Live view">
      <div class="live-title">
        <h2>Live view</h2>
        <button type="button" class="button" onClick={closeLive}>
          Back to the playground
        </button>
      </div>
      {liveError.value !== undefined && <p role="alert">{liveError.value}</p>}
      {token.value === '' ? <TokenForm /> : state === undefined && <p>Loading …</p>}
      {token.value !== '' && state !== undefined && (
        <>
          <section class="plots" aria-label="Reviews">
            <Plot
              title="Reviews per second"
              values={history.value.map(({ reviewsPerSecond }) => reviewsPerSecond)}
            />
            <Plot
              title="Denied per second"
              values={history.value.map(({ deniedPerSecond }) => deniedPerSecond)}
            />
            <Plot title="p50, ms" values={history.value.map(({ p50 }) => p50)} />
            <Plot title="p99, ms" values={history.value.map(({ p99 }) => p99)} />
          </section>
          <Background gauges={state.metrics.background} />
          <section aria-label="Policies">
            <h3>Policies ({state.policies.length})</h3>
            <p>{state.ready ? 'The server is ready.' : 'The server is not ready.'}</p>
            <ul class="checks">
              {state.checks.map(({ name, ok, detail }) => (
                <li key={name} class={ok ? 'good' : 'bad'}>
                  {ok ? '✓' : '✗'} {name}
                  {detail !== undefined && `: ${detail}`}
                </li>
              ))}
            </ul>
            <table>
              <thead>
                <tr>
                  <th>Policy</th>
                  <th>Kind</th>
                  <th>Mode</th>
                  <th>Rules</th>
                </tr>
              </thead>
              <tbody>
                {state.policies.map(({ key, kind, mode, rules }) => (
                  <tr key={`${kind} ${key}`}>
                    <td>{key}</td>
                    <td>{kind}</td>
                    <td>{mode}</td>
                    <td>{rules}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <Decisions decisions={state.decisions} />
        </>
      )}
    </main>
  );
}

function TokenForm() {
  const [text, setText] = useState('');
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        openLive(text.trim());
      }}
    >
      <label>
        Token of the live view
        <input
          type="password"
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button" disabled={text.trim() === ''}>
        Open
      </button>
    </form>
  );
}

function Background({ gauges }: { gauges: Readonly<Record<string, number>> }) {
  const entries = Object.entries(gauges);
  if (entries.length === 0) return null;
  return (
    <section aria-label="Background queue">
      <h3>Background queue</h3>
      <dl class="gauges">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Decisions({ decisions }: { decisions: readonly LiveDecision[] | null }) {
  return (
    <section aria-label="Decisions">
      <h3>Decisions</h3>
      {decisions === null && <p>The server keeps no decisions. Start it with --debug-decisions.</p>}
      {decisions?.length === 0 && <p>No review has been answered yet.</p>}
      {decisions !== null && decisions.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Time</th>
              <th>Object</th>
              <th>Result</th>
              <th>Applied rules</th>
              <th>µs</th>
              <th>
                <span class="visually-hidden">Open</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {decisions.toReversed().map((decision) => (
              <Row key={`${decision.time} ${decision.uid}`} decision={decision} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ decision }: { decision: LiveDecision }) {
  const { time, uid, kind, namespace, name, operation, allowed, microseconds, canOpen, rules } = decision;
  const applied = rules.filter(({ status }) => status === 'applied' || status === 'failed');
  const object = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
  const open = () =>
    openDecision(uid).catch((error: unknown) => {
      liveError.value = error instanceof Error ? error.message : String(error);
    });
  return (
    <tr>
      <td>{time.slice(11, 19)}</td>
      <td>
        {operation} {object}
      </td>
      <td class={allowed ? 'good' : 'bad'}>{allowed ? 'allowed' : 'denied'}</td>
      <td>
        {applied
          .map(({ policy, rule, status }) => `${policy}/${rule}${status === 'failed' ? ' (failed)' : ''}`)
          .join(', ')}
      </td>
      <td>{microseconds}</td>
      <td>
        {canOpen && (
          <button
            type="button"
            class="button"
            aria-label={`Open ${object} in the playground`}
            onClick={() => void open()}
          >
            Open
          </button>
        )}
      </td>
    </tr>
  );
}
