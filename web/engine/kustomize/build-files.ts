import { build } from '../../../src/kustomize/build.ts';
import { memoryFiles } from '../../../src/kustomize/kustomization/memory-files.ts';
import { KustomizeError } from '../../../src/kustomize/kustomize-error.ts';
import type { Resource } from '../../../src/kustomize/resource/resource.ts';
import { type RecordedStage, recordTrace } from '../../../src/kustomize/trace.ts';
import { kustomizeProblem } from '../../../src/offline/kustomize-problem.ts';
import { createPolicyRunner } from '../../../src/offline/policy-runner.ts';
import { pageEnvironment } from '../environment.ts';
import type { SourceProblem } from '../evaluation.ts';
import type { SourceText } from '../workspace.ts';
import { buildFolders } from './folders.ts';

export interface BuiltFiles {
  readonly folder: string;
  readonly folders: readonly string[];
  /** In output order; empty if the build failed. */
  readonly resources: readonly Resource[];
  /** Until the build ended or failed. */
  readonly stages: readonly RecordedStage[];
  readonly problems: readonly SourceProblem[];
}

/** Builds a folder of files in memory, as `kymera build` does. What needs a program or the network fails. */
export async function buildFiles(files: readonly SourceText[], wanted: string): Promise<BuiltFiles> {
  const folders = buildFolders(files);
  const folder = wanted === '' ? (folders[0] ?? '.') : wanted;
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  const trace = recordTrace();
  const problems: SourceProblem[] = [];
  const report = (severity: 'error' | 'warning', message: string) => {
    const file = files.find(({ name }) => message.startsWith(`${name}: `))?.name;
    const text = file === undefined ? message : message.slice(file.length + 2);
    problems.push({
      code: 'KYM_KUSTOMIZATION_INVALID',
      severity,
      message: text,
      pointer: '',
      file,
      role: 'files',
    });
  };
  const done = (resources: readonly Resource[]) => ({
    folder,
    folders,
    resources,
    stages: trace.stages,
    problems,
  });
  if (!folders.includes(folder)) {
    report(
      'error',
      `The folder ${folder} has no kustomization. Add kustomization.yaml, or choose another folder.`,
    );
    return done([]);
  }
  try {
    const resources = await build(
      { folder: `/${folder === '.' ? '' : folder}`, name: folder },
      {
        files: memoryFiles(new Map(files.map(({ name, text }) => [`/${name}`, text]))),
        enablePlugins: false,
        enableExec: false,
        unrestricted: false,
        environment: {},
        policies: createPolicyRunner(pageEnvironment),
        trace,
        warn: (text) => report('warning', text),
        show: () => undefined,
      },
    );
    return done(resources);
  } catch (error) {
    if (!(error instanceof KustomizeError)) throw error;
    const problem = kustomizeProblem(error, (file) => texts.get(file) ?? '');
    problems.push({ ...problem, role: 'files' });
    return done([]);
  }
}
