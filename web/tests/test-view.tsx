import { useSignal } from '@preact/signals';
import type { TestFileResult, TestRowResult } from '../engine/evaluation.ts';
import { readTexts } from '../input/dropped-files.ts';
import { DiffLines } from '../result/diff-view.tsx';
import { download } from '../state/download.ts';
import { engine, openWorkspace, workspace } from '../state/playground.ts';
import { zipTest } from './folder.ts';

/** Pass and fail of each expected result, and the buttons to save and open tests. */
export function TestView({ results }: { readonly results: readonly TestFileResult[] }) {
  const error = useSignal<string | undefined>(undefined);
  const attempt = async (task: () => Promise<void>) => {
    try {
      error.value = undefined;
      await task();
    } catch (reason) {
      error.value = reason instanceof Error ? reason.message : String(reason);
    }
  };
  const save = async () => {
    const saved = await engine.run('saveTest', workspace.value);
    openWorkspace(saved);
    download('kymera-test.zip', zipTest(saved, 'kymera-test'));
  };
  const open = async (files: readonly File[]) => {
    const named = files.map((file) => ({ name: file.webkitRelativePath || file.name, file }));
    const wanted = named.filter(({ name }) => /\.(?:ya?ml|json)$/.test(name));
    if (wanted.length > 0) openWorkspace(await engine.run('openTest', await readTexts(wanted)));
  };
  const rows = results.flatMap((result) => result.rows);
  const failed = rows.filter(({ verdict }) => verdict === 'failed').length;
  return (
    <div class="tests">
      <div class="toolbar">
        <span class="muted">
          {rows.length === 0
            ? 'Record the current results as a test for kymera test, or open the folder of a test.'
            : `${rows.length - failed} passed, ${failed} failed`}
        </span>
        <div>
          <button type="button" class="button small" onClick={() => void attempt(save)}>
            Save as test
          </button>
          <label class="button small">
            Open a test folder
            <input
              type="file"
              class="visually-hidden"
              {...{ webkitdirectory: true }}
              onChange={(event) => void attempt(() => open([...(event.currentTarget.files ?? [])]))}
            />
          </label>
        </div>
      </div>
      {error.value !== undefined && (
        <p class="banner bad" role="alert">
          {error.value}
        </p>
      )}
      {results.map((result) => (
        <section key={result.file} aria-label={result.file}>
          {result.errors.map((text) => (
            <p key={text} class="banner bad">
              {text}
            </p>
          ))}
          {result.rows.length > 0 && <Rows rows={result.rows} />}
        </section>
      ))}
    </div>
  );
}

function Rows({ rows }: { readonly rows: readonly TestRowResult[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Result</th>
          <th scope="col">Policy</th>
          <th scope="col">Rule</th>
          <th scope="col">Object</th>
          <th scope="col">Expected</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index} class={row.verdict}>
            <td>
              <span
                class={`badge ${row.verdict === 'passed' ? 'good' : row.verdict === 'failed' ? 'bad' : ''}`}
              >
                {row.verdict}
              </span>
            </td>
            <td>{row.policy}</td>
            <td>{row.rule}</td>
            <td>{row.resource}</td>
            <td>
              {row.expected}
              {row.reason !== '' && <p class="muted">{row.reason}</p>}
              {row.lines.length > 0 && <DiffLines lines={row.lines} split={false} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
