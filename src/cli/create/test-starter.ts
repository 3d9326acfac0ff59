import { basename, join, relative, resolve } from 'node:path';
import type { TestDocument } from '../../offline/test/document.ts';
import { collectResults, testText } from '../../offline/test/results.ts';
import { setUpTest } from '../../offline/test/setup.ts';
import { inputError } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { commandEnvironment } from '../environment.ts';
import { expandInputs } from '../input/input-paths.ts';
import { readPolicyTexts } from '../input/policy-input.ts';
import { isRemote } from '../input/remote-file.ts';
import type { ExitCode, Io } from '../io.ts';
import { testFiles } from '../test/files.ts';
import { test } from '../test/run.ts';
import { writeNewFiles } from './output.ts';

export interface CreateTestOptions {
  readonly resource: readonly string[];
  readonly targetResource?: readonly string[] | undefined;
  readonly output: string;
  readonly name?: string | undefined;
  readonly values?: string | undefined;
  readonly userinfo?: string | undefined;
  readonly exceptions?: readonly string[] | undefined;
  readonly force?: boolean | undefined;
  readonly color?: boolean | undefined;
}

const testFile = 'kyverno-test.yaml';

/** `kymera create test`: writes a test of the current behavior of policies, and its expected objects. */
export async function createTest(
  policyNames: readonly string[],
  options: CreateTestOptions,
  io: Io,
): Promise<ExitCode> {
  const named = [...policyNames, ...options.resource, options.values, options.userinfo];
  const all = [...named, ...(options.targetResource ?? []), ...(options.exceptions ?? [])];
  if (all.some((name) => name !== undefined && (name === '-' || isRemote(name)))) {
    throw inputError(
      'KYM_USAGE',
      'a test refers to files: neither standard input nor an address can be one of them',
    );
  }
  const document = await describeTest(policyNames, options, io);
  const setup = await setUpTest(document, testFiles(io), commandEnvironment);
  const { results, expected } = await collectResults(setup);
  if (results.length === 0) {
    const hint = 'kymera explain shows why no rule applies';
    throw inputError('KYM_TEST_INVALID', 'no rule selects any of the resources: there is nothing to test', {
      hint,
    });
  }
  const folder = options.output;
  const files = [
    { file: join(folder, testFile), text: testText(document, results) },
    ...[...expected].map(([name, objects]) => ({
      file: join(folder, name),
      text: objects.map((object) => writeYaml(object)).join('---\n'),
    })),
  ];
  await writeNewFiles(files, options.force === true, io);
  await io.stdout.write(files.map(({ file }) => `wrote ${file}\n`).join(''));
  const { color } = options;
  return test(
    [join(folder, testFile)],
    { fileName: [testFile], ...(color === undefined ? {} : { color }) },
    io,
  );
}

/** Paths in a test are relative to its folder. */
async function describeTest(
  policyNames: readonly string[],
  options: CreateTestOptions,
  io: Io,
): Promise<TestDocument> {
  const near = (file: string) => relative(resolve(io.cwd, options.output), resolve(io.cwd, file)) || '.';
  const filesOf = async (names: readonly string[]) =>
    (await expandInputs(names, io.cwd))
      .map(({ file }) => near(file))
      .filter((file) => basename(file) !== testFile);
  // A folder of policies may contain other files: list only those with policies.
  const policies = (await readPolicyTexts(policyNames, io)).map(({ file }) => near(file));
  return {
    name: options.name ?? basename(resolve(io.cwd, options.output)),
    file: join(options.output, testFile),
    policies,
    resources: await filesOf(options.resource),
    otherResources: await filesOf(options.targetResource ?? []),
    exceptions: await filesOf(options.exceptions ?? []),
    ...(options.values === undefined ? {} : { valuesFile: near(options.values) }),
    ...(options.userinfo === undefined ? {} : { userInfoFile: near(options.userinfo) }),
    apiCalls: new Map(),
    globalReferences: new Map(),
    images: new Map(),
    results: [],
  };
}
