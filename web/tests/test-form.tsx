import { update, workspace } from '../state/playground.ts';

/** The test document and the files that only the test reads. */
export function TestForm() {
  const { tests } = workspace.value;
  return (
    <div class="form" role="group" aria-label="Test files">
      {tests.map((source, index) => (
        <label key={source.name} class="field wide">
          <span>{source.name}</span>
          <textarea
            rows={Math.min(20, source.text.split('\n').length + 1)}
            value={source.text}
            spellcheck={false}
            onInput={(event) => {
              const text = event.currentTarget.value;
              update({ tests: tests.map((one, at) => (at === index ? { ...one, text } : one)) });
            }}
          />
        </label>
      ))}
    </div>
  );
}
