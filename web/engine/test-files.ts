import type { JsonObject } from '../../src/json/value.ts';
import type { Resource } from '../../src/offline/resource-documents.ts';
import { readResourceText } from '../../src/offline/resource-text.ts';
import type { TestFiles } from '../../src/offline/test/setup.ts';
import { celCompilersFor } from '../../src/policy/cel-documents.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import { type LoadResult, loadDocuments } from '../../src/policy/load.ts';
import { InputError, inputError, type Problem } from '../../src/problem.ts';
import type { SourceText, Workspace } from './workspace.ts';

/** All files of the workspace. Paths in a test are names of these. */
export function filesOf(workspace: Workspace): readonly SourceText[] {
  return [...workspace.policies, ...workspace.resources, ...workspace.context, ...workspace.tests];
}

/** The files of a test that is open in the page. */
export function pageTestFiles(files: readonly SourceText[]): TestFiles {
  const load = async (paths: readonly string[]): Promise<LoadResult> => {
    const sources = paths.flatMap((path) => found(files, path));
    const loaded = loadDocuments(
      sources.map(({ name, text }) => ({ file: name, text })),
      { cel: await celCompilersFor(sources) },
    );
    const errors = loaded.problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw new InputError(errors);
    return loaded;
  };
  return {
    policies: load,
    exceptions: load,
    resources: (paths, warnings) =>
      readResources(
        paths.flatMap((path) => found(files, path)),
        warnings,
      ),
    document: async (path) => {
      const [source] = found(files, path);
      const { documents, problems } = readDocuments({ file: path, text: source?.text ?? '' });
      if (problems.length > 0) throw new InputError(problems);
      const [document] = documents;
      if (document === undefined) throw inputError('KYM_VALUES_INVALID', 'the file is empty', { file: path });
      return document.value;
    },
  };
}

/** A path is a file, or a folder with files. Throws InputError if there is neither. */
function found(files: readonly SourceText[], path: string): readonly SourceText[] {
  const exact = files.filter(({ name }) => name === path);
  const inside =
    exact.length > 0 ? exact : files.filter(({ name }) => path === '.' || name.startsWith(`${path}/`));
  if (inside.length === 0) throw inputError('KYM_INPUT_NOT_FOUND', `there is no file ${path}`);
  return inside;
}

async function readResources(sources: readonly SourceText[], warnings: Problem[]): Promise<Resource[]> {
  const resources: Resource[] = [];
  const errors: Problem[] = [];
  for (const { name, text } of sources) {
    for await (const item of readResourceText(chunksOf(text), name, false)) {
      if ('object' in item) resources.push(item);
      else (item.problem.severity === 'error' ? errors : warnings).push(item.problem);
    }
  }
  if (errors.length > 0) throw new InputError(errors);
  return resources;
}

/** The objects of a file with expected results; undefined if there is no such file. */
export async function expectedObjects(
  files: readonly SourceText[],
  path: string,
): Promise<readonly JsonObject[] | undefined> {
  const sources = files.filter(({ name }) => name === path);
  if (sources.length === 0) return undefined;
  return (await readResources(sources, [])).map(({ object }) => object);
}

export async function* chunksOf(text: string): AsyncGenerator<string> {
  yield text;
}
