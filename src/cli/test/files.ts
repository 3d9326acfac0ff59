import type { JsonObject } from '../../json/value.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import type { TestFiles } from '../../offline/test/setup.ts';
import { InputError, type Problem } from '../../problem.ts';
import { expandInputs } from '../input/input-paths.ts';
import { loadPolicyInputs, type PolicyInputOptions } from '../input/policy-input.ts';
import { readOneDocument } from '../input/request-documents.ts';
import { readResources } from '../input/resource-reader.ts';
import type { Io } from '../io.ts';

/** The files of tests on disk. */
export function testFiles(io: Io, options: PolicyInputOptions = {}): TestFiles {
  return {
    policies: (paths) => loadPolicyInputs(paths, io, options),
    exceptions: (paths) => loadPolicyInputs(paths, io),
    resources: (paths, warnings) => readAll(paths, io, warnings),
    document: (path) => readOneDocument(path, io),
  };
}

async function readAll(names: readonly string[], io: Io, warnings: Problem[]): Promise<Resource[]> {
  const resources: Resource[] = [];
  const errors: Problem[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('object' in item) resources.push(item);
    else if (item.problem.severity === 'error') errors.push(item.problem);
    else warnings.push(item.problem);
  }
  if (errors.length > 0) throw new InputError(errors);
  return resources;
}

/** Reads each file of expected objects once. Undefined for a file that does not exist. */
export function expectedObjectReader(io: Io): (file: string) => Promise<readonly JsonObject[] | undefined> {
  const known = new Map<string, Promise<readonly JsonObject[] | undefined>>();
  return (file) => {
    const objects = known.get(file) ?? readExpected(file, io);
    known.set(file, objects);
    return objects;
  };
}

async function readExpected(file: string, io: Io): Promise<readonly JsonObject[] | undefined> {
  try {
    return (await readAll([file], io, [])).map((resource) => resource.object);
  } catch (error) {
    if (error instanceof InputError && error.problems[0]?.code === 'KYM_INPUT_NOT_FOUND') return undefined;
    throw error;
  }
}
