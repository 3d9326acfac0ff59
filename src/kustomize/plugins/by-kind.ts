import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { defaultPluginLimits } from '../build-context.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { printYaml } from '../yaml/print.ts';
import { annotatedForPlugin } from './annotations.ts';
import { pluginArguments } from './args.ts';
import { pluginFailed, runPlugin } from './process.ts';
import { readOutput } from './result.ts';

/** Linux cannot start a program with a longer variable. */
const longestVariable = 131_071;

/** Runs the program of a kind as generator. Its first argument is the config file. */
export async function generateByKind(
  path: string,
  config: JsonObject,
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  return readOutput(await run(path, config, '', context), titleOf(path), context);
}

/** Runs the program of a kind as transformer. Each resource has an id annotation. */
export async function transformByKind(
  path: string,
  config: JsonObject,
  set: ResourceSet,
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  const input = set.list().map((resource) => printYaml(annotatedForPlugin(resource)));
  return readOutput(await run(path, config, input.join('---\n'), context), titleOf(path), context);
}

export function titleOf(path: string): string {
  return `the plugin ${path}`;
}

async function run(path: string, config: JsonObject, input: string, context: BuildContext): Promise<string> {
  const { folder, options } = context;
  const text = printYaml(config);
  const temporary = mkdtempSync(join(tmpdir(), 'kymera-plugin-'));
  try {
    const file = join(temporary, 'config.yaml');
    writeFileSync(file, text, { mode: 0o600 });
    const command = {
      title: titleOf(path),
      path,
      args: [file, ...pluginArguments(config, folder)],
      folder: folder.root,
      environment: {
        ...options.environment,
        ...variable('KUSTOMIZE_PLUGIN_CONFIG_STRING', text),
        ...variable('KUSTOMIZE_PLUGIN_CONFIG_ROOT', folder.root),
      },
      input,
      show: options.show,
    };
    const result = await runPlugin(command, options.pluginLimits ?? defaultPluginLimits);
    if (result.exitCode === 0) return result.output;
    throw pluginFailed(command.title, `exited with code ${result.exitCode}`, result.messages);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function variable(name: string, value: string): Readonly<Record<string, string>> {
  return Buffer.byteLength(`${name}=${value}`) <= longestVariable ? { [name]: value } : {};
}
