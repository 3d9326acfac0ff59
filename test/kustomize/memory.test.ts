import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandEnvironment } from '../../src/cli/environment.ts';
import { build, printResources } from '../../src/kustomize/build.ts';
import { memoryFiles } from '../../src/kustomize/kustomization/memory-files.ts';
import { recordTrace } from '../../src/kustomize/trace.ts';
import { createPolicyRunner } from '../../src/offline/policy-runner.ts';
import { readKustomizeCases } from '../conformance/kustomize-cases.ts';

/** The files of a folder by absolute path. */
function textsOf(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [join('/', name), readFileSync(join(folder, name), 'utf8')]));
}

/** Cases that need no option of the command line, and whose files are text. */
const cases = readKustomizeCases(join(import.meta.dirname, '../conformance/kustomize')).filter(
  ({ expect: expected, run, folder }) =>
    expected === 'ok' &&
    (run.flags ?? []).length === 0 &&
    ![...textsOf(join(folder, 'input')).values()].some((text) => text.includes('\uFFFD')),
);

describe('a build of files in memory', () => {
  it('has many cases', () => expect(cases.length).toBeGreaterThan(200));

  it.each(cases)('$id: prints the same, and the trace ends with what it prints', async ({ folder, run }) => {
    const texts = textsOf(join(folder, 'input'));
    const trace = recordTrace();
    const at = resolve('/', run.dir.replace(/^input/, '.'));
    const resources = await build(
      { folder: at, name: at === '/' ? '.' : at.slice(1) },
      {
        files: memoryFiles(texts),
        enablePlugins: false,
        enableExec: false,
        unrestricted: false,
        environment: {},
        policies: createPolicyRunner(commandEnvironment),
        trace,
        warn: () => undefined,
        show: () => undefined,
      },
    );
    expect(printResources(resources)).toBe(readFileSync(join(folder, 'expected.yaml'), 'utf8'));
    const last = trace.stages.at(-1)?.resources ?? [];
    const kept = new Map(last.map(({ resource, object }) => [resource, object]));
    expect(resources.filter((resource) => kept.get(resource) !== resource.object)).toEqual([]);
  });
});
