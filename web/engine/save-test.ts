import type { JsonObject } from '../../src/json/value.ts';
import { collectResults, testText } from '../../src/offline/test/results.ts';
import { setUpTest } from '../../src/offline/test/setup.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { pageEnvironment } from './environment.ts';
import { parseMocks } from './reads.ts';
import { requestDocuments } from './request-documents.ts';
import { readTests } from './run-tests.ts';
import { expectedObjects, filesOf, pageTestFiles } from './test-files.ts';
import { emptyRequest, freeName, type SourceText, type Workspace } from './workspace.ts';

const testFile = 'kyverno-test.yaml';

/**
 * Records the current results as a test. The workspace that it returns has the files of the test, which pass. Throws an Error with a
 * message for the user.
 */
export async function saveTest(workspace: Workspace): Promise<Workspace> {
  const { policies, resources, context } = uniqueNames(workspace);
  const mocks = parseMocks(workspace.mocks);
  const sources = { ...workspace, policies, resources, context, tests: [] };
  const objects = await objectsOf(resources);
  const request = requestDocuments(workspace.request, objects);
  const extra: SourceText[] = [
    ...documentFile('values.yaml', request.values),
    ...documentFile('user-info.yaml', request.userInfo),
    ...(mocks.objects.length === 0
      ? []
      : [{ name: 'mocks.yaml', text: mocks.objects.map((object) => writeYaml(object)).join('---\n') }]),
  ];
  const test = {
    name: policies[0]?.name.replace(/\.[^.]*$/, '') ?? 'test',
    policies: policies.map(({ name }) => name),
    resources: resources.map(({ name }) => name),
    otherResources: [
      ...context.map(({ name }) => name),
      ...(mocks.objects.length === 0 ? [] : ['mocks.yaml']),
    ],
    exceptions: [],
    valuesFile: request.values === undefined ? undefined : 'values.yaml',
    userInfoFile: request.userInfo === undefined ? undefined : 'user-info.yaml',
    mocks: mockFields(mocks.canned),
  };
  // Without results it is not a valid test, so it is read with one that is never used.
  const draft = testText(test, [{ policy: '-', rule: '-', kind: '-', resources: [], result: 'pass' }]);
  const [document] = await readTests({ name: testFile, text: draft });
  if (document === undefined) throw new Error('The test cannot be read.');
  const files = [...filesOf(sources), ...extra];
  const setup = await setUpTest(document, pageTestFiles(files), pageEnvironment);
  const { results, expected } = await collectResults(setup);
  if (results.length === 0) throw new Error('No rule selects an object: there is nothing to test.');
  return {
    ...sources,
    // The form and the mocks are files of the test now.
    request: workspace.request,
    tests: [
      { name: testFile, text: testText(test, results) },
      ...extra,
      ...[...expected].map(([name, found]) => ({
        name,
        text: found.map((object) => writeYaml(object)).join('---\n'),
      })),
    ],
  };
}

async function objectsOf(resources: readonly SourceText[]): Promise<readonly JsonObject[]> {
  const found = await Promise.all(resources.map(({ name }) => expectedObjects(resources, name)));
  return found.flatMap((objects) => objects ?? []);
}

function documentFile(name: string, document: JsonObject | undefined): SourceText[] {
  return document === undefined ? [] : [{ name, text: writeYaml(document) }];
}

function mockFields({
  apiCalls,
  globalReferences,
  images,
}: ReturnType<typeof parseMocks>['canned']): JsonObject {
  const calls = [...(apiCalls ?? [])].map(([key, { status, body }]) => {
    const space = key.indexOf(' ');
    return {
      method: key.slice(0, space),
      urlPath: key.slice(space + 1),
      response: { statusCode: status, body },
    };
  });
  const entries = [...(globalReferences ?? [])].map(([name, data]) => ({ name, data }));
  const imageData = [...(images ?? [])].map(([image, data]) => ({ image, data }));
  return {
    ...(calls.length === 0 ? {} : { apiCallResponses: calls }),
    ...(entries.length === 0 ? {} : { globalContextEntries: entries }),
    ...(imageData.length === 0 ? {} : { imageData }),
  };
}

/** All files are in one folder, so no two may have the same name. */
function uniqueNames({ policies, resources, context }: Workspace) {
  const reserved = [testFile, 'values.yaml', 'user-info.yaml', 'mocks.yaml', 'patched.yaml'];
  const taken: SourceText[] = reserved.map((name) => ({ name, text: '' }));
  const rename = (sources: readonly SourceText[]) =>
    sources.map((source) => {
      const renamed = { ...source, name: freeName(plainName(source.name), taken) };
      taken.push(renamed);
      return renamed;
    });
  return { policies: rename(policies), resources: rename(resources), context: rename(context) };
}

/** Names may come from a link, and archives are unpacked by programs that follow `..`. */
function plainName(name: string): string {
  return name.replace(/[\\/:]+/g, '-').replace(/^[.-]+/, '') || 'file.yaml';
}

/** A folder with a test as a workspace. Names are relative to the folder of the test. Throws InputError. */
export async function openTest(files: readonly SourceText[]): Promise<Workspace> {
  const test = files.find(({ name }) => /(?:^|\/)kyverno-test\.ya?ml$/.test(name));
  if (test === undefined) throw new Error('The folder has no kyverno-test.yaml.');
  const folder = test.name.slice(0, test.name.lastIndexOf('/') + 1);
  const own = files
    .filter(({ name }) => name.startsWith(folder))
    .map(({ name, text }) => ({ name: name.slice(folder.length), text }));
  const documents = await readTests({ name: testFile, text: test.text });
  const named = (names: readonly string[]) => {
    const paths = names.map((name) => name.replace(/^\.\//, ''));
    return own.filter(({ name }) => paths.some((path) => name === path || name.startsWith(`${path}/`)));
  };
  const policies = named(documents.flatMap((document) => [...document.policies, ...document.exceptions]));
  const resources = named(documents.flatMap((document) => document.resources));
  const context = named(documents.flatMap((document) => document.otherResources));
  const used = new Set([...policies, ...resources, ...context]);
  return {
    policies,
    resources,
    context,
    request: emptyRequest,
    mocks: {},
    files: [],
    tests: own.filter((file) => !used.has(file)),
  };
}
