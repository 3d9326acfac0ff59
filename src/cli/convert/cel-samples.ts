import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { defaultUser, type Sample } from '../../convert/proof/sample.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { mergeMembers } from '../../json/merge.ts';
import { labelsOf, nameOf, namespaceOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import { clusterObjects } from '../../offline/cluster-resource.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import { withDefaultNamespace } from '../../offline/object-identity.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import { parseTest } from '../../offline/test/document.ts';
import { pathNear } from '../../offline/test/paths.ts';
import { setUpTest } from '../../offline/test/setup.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { readDocuments } from '../../policy/documents.ts';
import { InputError } from '../../problem.ts';
import { commandEnvironment } from '../environment.ts';
import { readObjects } from '../input/resource-reader.ts';
import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';
import { testFiles } from '../test/files.ts';

/** The objects of files, each created and updated. Namespaces among them have their labels, and all exist for lookups and targets. */
export async function givenSamples(names: readonly string[], io: Io): Promise<readonly Sample[]> {
  const objects = (await readObjects(names, io)).flatMap((object) => clusterObjects(object));
  const dataSource = createInputDataSource(objects, commandEnvironment);
  const resources = objects.filter((object) => resourceRole(object) === 'resource');
  return resources.flatMap((object) => samplesOf(object, { origin: 'given with -r', objects, dataSource }));
}

interface Surroundings {
  readonly origin: string;
  readonly objects: readonly JsonObject[];
  readonly dataSource: DataSource;
}

function samplesOf(given: JsonObject, { origin, objects, dataSource }: Surroundings): readonly Sample[] {
  const object = withDefaultNamespace(given);
  const namespace = objects.find(
    (each) => each['kind'] === 'Namespace' && nameOf(each) === namespaceOf(object),
  );
  const sample = {
    origin: `${origin}: ${String(object['kind'])} ${nameOf(object)}`,
    object,
    user: defaultUser,
    namespaceLabels: namespace === undefined ? {} : labelsOf(namespace),
    dataSource,
    existing: objects,
  };
  return [
    { ...sample, operation: 'CREATE' },
    { ...sample, operation: 'UPDATE', oldObject: object },
  ];
}

const testFolders = ['', '.kyverno-test', 'tests', 'test'];
const testNames = ['kyverno-test.yaml', 'kymera-test.yaml'];

/** The objects of the tests that name the file of a policy: beside it, in its test folder, or in the folder above. */
export async function testSamples(
  file: string,
  policies: readonly CompiledPolicy[],
  io: Io,
): Promise<readonly Sample[]> {
  if (file === '-') return [];
  const folder = dirname(resolve(io.cwd, file));
  const samples: Sample[] = [];
  for (const path of candidates(folder)) {
    if (!(await stat(path).catch(() => undefined))?.isFile()) continue;
    samples.push(...(await samplesOfTests(path, resolve(io.cwd, file), policies, io)));
  }
  return samples;
}

function candidates(folder: string): readonly string[] {
  const folders = [folder, dirname(folder)].flatMap((base) => testFolders.map((name) => join(base, name)));
  return [...new Set(folders)].flatMap((each) => testNames.map((name) => join(each, name)));
}

async function samplesOfTests(
  path: string,
  policyFile: string,
  policies: readonly CompiledPolicy[],
  io: Io,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const { documents } = readDocuments({ file: path, text: await readWhole(path, io) });
  for (const document of documents) {
    const { test } = await parseTest(document, commandEnvironment);
    const names = test?.policies.map((name) => resolve(io.cwd, pathNear(path, name))) ?? [];
    if (test === undefined || !names.includes(policyFile)) continue;
    try {
      const { resources, background, values } = await setUpTest(test, testFiles(io), commandEnvironment);
      for (const { object } of resources) {
        for (const policy of policies) {
          const given = values.forObject(policy, nameOf(object));
          const merged = given.object === undefined ? object : mergeMembers(object, given.object);
          const { objects, dataSource, user } = background;
          const own = samplesOf(merged, { origin: `test ${test.name}`, objects, dataSource });
          for (const sample of own) samples.push({ ...sample, user: user ?? sample.user });
          if (given.operation === 'DELETE' && own[0] !== undefined)
            samples.push({ ...own[0], operation: 'DELETE', oldObject: own[0].object });
        }
      }
    } catch (error) {
      // A test that does not load is reported by `kymera test`.
      if (!(error instanceof InputError)) throw error;
    }
  }
  return samples;
}
