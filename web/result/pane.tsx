import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BuildResult, Evaluation } from '../engine/evaluation.ts';
import { dropError } from '../input/drop.ts';
import { addressError } from '../state/address.ts';
import { engineError, evaluation, isRunning, selectedObject } from '../state/playground.ts';
import { sessionMessage } from '../state/session-message.ts';
import { TestView } from '../tests/test-view.tsx';
import { BackgroundView } from './background-view.tsx';
import { DiffView } from './diff-view.tsx';
import { ExplainView } from './explain-view.tsx';
import { OutputView } from './output-view.tsx';
import { ProblemList } from './problem-list.tsx';
import { Stepper } from './stepper.tsx';
import { TextView } from './text-view.tsx';

export const resultView = signal<'diff' | 'explain' | 'patch' | 'output' | 'tests' | 'convert'>('diff');

const views = [
  ['diff', 'Changes'],
  ['explain', 'Why'],
  ['patch', 'JSON patch'],
  ['output', 'YAML'],
  ['tests', 'Tests'],
  ['convert', 'Convert'],
] as const;

export function ResultPane() {
  const result = evaluation.value;
  const build = result?.build;
  // A test has objects, not a kustomization.
  const shown = views.filter(([view]) => build === undefined || view !== 'tests');
  const object = result?.objects[selectedObject.value];
  const isConvert = resultView.value === 'convert';
  return (
    <section class="pane result" aria-label="Result" aria-busy={isRunning.value}>
      <div class="pane-head">
        <h2>Result</h2>
        <div class="side-tabs" role="group" aria-label="Views of the result">
          {shown.map(([view, title]) => (
            <button
              key={view}
              type="button"
              class="tab"
              aria-pressed={resultView.value === view}
              onClick={() => {
                resultView.value = view;
              }}
            >
              {build !== undefined && view === 'diff' ? 'Stages' : title}
            </button>
          ))}
        </div>
      </div>
      <div class="pane-body scroll">
        {addressError.value !== undefined && (
          <p class="banner bad" role="alert">
            {addressError.value}
          </p>
        )}
        {dropError.value !== undefined && (
          <p class="banner bad" role="alert">
            {dropError.value}
          </p>
        )}
        {engineError.value !== undefined && (
          <p class="banner bad" role="alert">
            {engineError.value}
          </p>
        )}
        <ProblemList />
        {(build === undefined || ['explain', 'patch', 'convert'].includes(resultView.value)) && (
          <ObjectChoice />
        )}
        {result === undefined && engineError.value === undefined && <p class="empty muted">Evaluating …</p>}
        {result !== undefined && build === undefined && object === undefined && !isConvert && (
          <div class="empty">
            <p>Nothing to evaluate.</p>
            <p class="muted">Add an object on the left. Its changes appear here as you type.</p>
          </div>
        )}
        {result !== undefined && build !== undefined && resultView.value === 'diff' && (
          <Stages result={result} build={build} />
        )}
        {object !== undefined && build === undefined && resultView.value === 'diff' && (
          <>
            <Stepper object={object} />
            <DiffView object={object} />
          </>
        )}
        {result !== undefined && build === undefined && resultView.value === 'diff' && (
          <BackgroundView changes={result.background} />
        )}
        {object !== undefined && resultView.value === 'explain' && <ExplainView object={object} />}
        {object !== undefined && resultView.value === 'patch' && (
          <TextView text={`${object.patch}\n`} name="patch.json" label="JSON patch" />
        )}
        {result !== undefined && build === undefined && resultView.value === 'tests' && (
          <TestView results={result.tests} />
        )}
        {result !== undefined && isConvert && <Convert result={result} />}
        {result !== undefined && resultView.value === 'output' && <OutputView result={result} />}
      </div>
      <div class="status" role="status">
        {sessionMessage.value !== undefined && (
          <span class={sessionMessage.value.isBad ? 'problem' : 'muted'}>{sessionMessage.value.text}</span>
        )}
        {result !== undefined && (
          <>
            <span>{result.summary}</span>
            <span class="muted">{result.milliseconds.toFixed(result.milliseconds < 10 ? 1 : 0)} ms</span>
          </>
        )}
      </div>
    </section>
  );
}

/** The view of a build is loaded for the first kustomization. */
function Stages(props: { readonly result: Evaluation; readonly build: BuildResult }) {
  const [View, setView] = useState<FunctionComponent<typeof props>>();
  useEffect(() => {
    void import('../kustomize/stages-view.tsx').then(({ StagesView }) => setView(() => StagesView));
  }, []);
  return View === undefined ? null : <View {...props} />;
}

/** The view of a conversion is loaded when it is opened. */
function Convert(props: { readonly result: Evaluation }) {
  const [View, setView] = useState<FunctionComponent<typeof props>>();
  useEffect(() => {
    void import('../convert/convert-view.tsx').then(({ ConvertView }) => setView(() => ConvertView));
  }, []);
  return View === undefined ? null : <View {...props} />;
}

/** A choice when there are several objects. */
function ObjectChoice() {
  const objects = evaluation.value?.objects ?? [];
  if (objects.length < 2) return null;
  return (
    <div class="objects" role="group" aria-label="Objects">
      {objects.map(({ title, status, file, line }, index) => (
        <button
          key={`${file}:${line}:${title}`}
          type="button"
          class="chip"
          aria-pressed={index === selectedObject.value}
          onClick={() => {
            selectedObject.value = index;
          }}
        >
          <span class={`dot ${status}`} aria-hidden="true" />
          {title}
          <span class="visually-hidden">: {status}</span>
        </button>
      ))}
    </div>
  );
}
