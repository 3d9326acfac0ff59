import { isAbsolute, resolve } from 'node:path';
import { setMember } from '../../json/edit.ts';
import { isArray, isObject, type JsonObject, member } from '../../json/value.ts';
import type { PolicyPlace } from '../../kustomize/build-context.ts';
import { diskFiles } from '../../kustomize/kustomization/disk-files.ts';
import { decodeText, readFile } from '../../kustomize/kustomization/folder.ts';
import { KustomizeError } from '../../kustomize/kustomize-error.ts';
import { isPolicyConfig } from '../../kustomize/plugins/runner.ts';
import { parseResources } from '../../kustomize/resource/parse-resources.ts';
import { printYaml } from '../../kustomize/yaml/print.ts';
import { readResourceYaml, yamlMessage } from '../../kustomize/yaml/read.ts';
import { plain } from '../../offline/output/paint.ts';
import { createPolicyRunner } from '../../offline/policy-runner.ts';
import { inputError } from '../../problem.ts';
import { commandEnvironment } from '../environment.ts';
import { readWhole } from '../input/text-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { formatProblem } from '../problem-text.ts';
import { asInputError } from './resources.ts';

/** `kymera transform`: applies policies to the resources on standard input. */
export async function transform(file: string | undefined, io: Io): Promise<ExitCode> {
  const input = await readWhole('-', io);
  try {
    const list = file === undefined ? resourceListIn(input) : undefined;
    const output =
      list === undefined ? await transformDocuments(input, file, io) : await transformList(list, io);
    await io.stdout.write(output);
    return 0;
  } catch (error) {
    if (!(error instanceof KustomizeError)) throw error;
    throw asInputError(error, io);
  }
}

/** A ResourceList is one document. Its items are read separately so that the list can be printed again. */
function resourceListIn(text: string): JsonObject | undefined {
  if (!text.includes('ResourceList')) return undefined;
  try {
    const [first] = readResourceYaml(text);
    return isObject(first) && member(first, 'kind') === 'ResourceList' ? first : undefined;
  } catch (error) {
    throw inputError('KYM_YAML_SYNTAX', yamlMessage(error), { file: '(stdin)' });
  }
}

async function transformList(list: JsonObject, io: Io): Promise<string> {
  const config = member(list, 'functionConfig');
  if (!isObject(config) || !isPolicyConfig(config)) {
    throw inputError('KYM_USAGE', 'the functionConfig of the ResourceList is not a policy', {
      file: '(stdin)',
    });
  }
  const stated = member(list, 'items');
  // Printed and read again, which drops the source strings of scalars.
  const items = isArray(stated) ? parseResources(documents(stated as readonly JsonObject[]), '(stdin)') : [];
  const results = await run([config], items, io);
  return printYaml(setMember(list, 'items', results));
}

async function transformDocuments(text: string, file: string | undefined, io: Io): Promise<string> {
  const given = parseResources(text, '(stdin)');
  const configs =
    file === undefined
      ? given.filter(isPolicyConfig)
      : parseResources(await readWhole(file, io), file, 'text', 'loose').filter(isPolicyConfig);
  if (configs.length === 0) {
    throw inputError('KYM_USAGE', 'there is no policy to apply', { file: file ?? '(stdin)' });
  }
  const resources = file === undefined ? given.filter((object) => !isPolicyConfig(object)) : given;
  return documents(await run(configs, resources, io));
}

function run(
  configs: readonly JsonObject[],
  objects: readonly JsonObject[],
  io: Io,
): Promise<readonly JsonObject[]> {
  const root = io.env['KUSTOMIZE_PLUGIN_CONFIG_ROOT'] ?? io.cwd;
  const place: PolicyPlace = {
    file: '(config)',
    root,
    readText: (path, field) => readConfigFile(isAbsolute(path) ? path : resolve(root, path), path, field),
  };
  return createPolicyRunner(commandEnvironment, {
    warning: (problem) => void io.stderr.write(`${formatProblem(problem, plain)}\n`),
  }).run(configs, objects, place);
}

function readConfigFile(path: string, name: string, field: string): string {
  return decodeText(readFile(diskFiles, path, name, { file: name, field }), name, { file: name, field });
}

function documents(objects: readonly JsonObject[]): string {
  return objects.map(printYaml).join('---\n');
}
