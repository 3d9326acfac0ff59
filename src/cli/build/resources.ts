import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type BuildTarget, build } from '../../kustomize/build.ts';
import { defaultPluginLimits, type HelmOptions } from '../../kustomize/build-context.ts';
import { diskFiles } from '../../kustomize/kustomization/disk-files.ts';
import { isKustomizationText } from '../../kustomize/kustomization/load-kustomization.ts';
import { KustomizeError } from '../../kustomize/kustomize-error.ts';
import { localPrograms } from '../../kustomize/local-programs.ts';
import { parseRepositoryUrl } from '../../kustomize/remote/repository-url.ts';
import type { Resource } from '../../kustomize/resource/resource.ts';
import type { BuildTrace } from '../../kustomize/trace.ts';
import type { PolicyChange } from '../../offline/apply-policies.ts';
import { kustomizeProblem } from '../../offline/kustomize-problem.ts';
import { plain } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import { createPolicyRunner } from '../../offline/policy-runner.ts';
import { InputError, inputError } from '../../problem.ts';
import { commandEnvironment } from '../environment.ts';
import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';
import { formatProblem } from '../problem-text.ts';

/** The options of every command that builds a kustomization. */
export interface BuildCommandOptions {
  readonly enablePlugins?: boolean | undefined;
  readonly enableAlphaPlugins?: boolean | undefined;
  readonly enableExec?: boolean | undefined;
  readonly loadRestrictor?: string | undefined;
  readonly load_restrictor?: string | undefined;
  readonly offline?: boolean | undefined;
  readonly enableHelm?: boolean | undefined;
  readonly helmCommand?: string | undefined;
  readonly helmKubeVersion?: string | undefined;
  readonly helmApiVersions?: readonly string[] | undefined;
  readonly helmDebug?: boolean | undefined;
  readonly reorder?: 'legacy' | 'none' | undefined;
  /** Seconds. */
  readonly pluginTimeout?: string | undefined;
  /** Told about each stage. */
  readonly trace?: BuildTrace | undefined;
  /** Called for each change of policies under `transformers`. */
  readonly report?: ((change: PolicyChange) => void) | undefined;
}

/** Builds the kustomization at a path. Throws InputError. */
export async function buildResources(
  path: string,
  options: BuildCommandOptions,
  io: Io,
): Promise<readonly Resource[]> {
  const restrictor = options.load_restrictor ?? options.loadRestrictor;
  const target = await targetOf(path, io);
  try {
    return await build(
      { ...target, ...(options.reorder !== undefined && { sortOptions: orderOf(options.reorder) }) },
      {
        files: diskFiles,
        programs: localPrograms,
        enablePlugins: options.enablePlugins === true || options.enableAlphaPlugins === true,
        // kustomize has a separate flag for functions; --enable-plugins covers both.
        enableExec: options.enableExec === true || options.enablePlugins === true,
        unrestricted: restrictor === 'LoadRestrictionsNone' || restrictor === 'none',
        offline: options.offline,
        readAddress: (address) => readWhole(address, { ...io, offline: options.offline }),
        helm: helmOf(options),
        environment: io.env,
        trace: options.trace,
        policies: createPolicyRunner(commandEnvironment, {
          change: (change) => options.report?.(change),
          warning: (problem) => void io.stderr.write(`${formatProblem(problem, plain)}\n`),
        }),
        ...(options.pluginTimeout !== undefined && {
          pluginLimits: { ...defaultPluginLimits, milliseconds: secondsOf(options.pluginTimeout) },
        }),
        warn: (text) => void io.stderr.write(`warning: ${visible(text)}\n`),
        show: (text) =>
          void io.stderr.write(
            text
              .split('\n')
              .map((line) => `${visible(line)}\n`)
              .join(''),
          ),
      },
    );
  } catch (error) {
    throw error instanceof KustomizeError ? asInputError(error, io) : error;
  }
}

function helmOf(options: BuildCommandOptions): HelmOptions | undefined {
  if (options.enableHelm !== true) return undefined;
  return {
    command: options.helmCommand ?? 'helm',
    kubeVersion: options.helmKubeVersion,
    apiVersions: options.helmApiVersions,
    debug: options.helmDebug,
  };
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1000;
  throw inputError('KYM_USAGE', `--plugin-timeout takes a number of seconds, not '${text}'`);
}

function orderOf(order: 'legacy' | 'none') {
  return { order: order === 'none' ? 'fifo' : 'legacy' };
}

/** A folder, a file with a kustomization or resources, or standard input. */
async function targetOf(path: string, io: Io): Promise<BuildTarget> {
  if (path === '-') {
    return {
      folder: io.cwd,
      name: '',
      kustomization: { fileName: '(stdin)', text: await readWhole('-', io) },
    };
  }
  const full = resolve(io.cwd, path);
  const stats = statSync(full, { throwIfNoEntry: false });
  const url = stats === undefined ? parseRepositoryUrl(path) : undefined;
  if (url !== undefined) return { folder: url, name: path };
  if (stats === undefined) {
    throw inputError('KYM_INPUT_NOT_FOUND', 'the file or folder does not exist', { file: path });
  }
  if (stats.isDirectory()) return { folder: full, name: path };
  if (!stats.isFile()) {
    throw inputError('KYM_INPUT_UNREADABLE', 'it is neither a regular file nor a folder', {
      file: path,
      hint: 'use - for standard input',
    });
  }
  const text = await readWhole(path, io);
  const fileName = basename(path);
  return {
    folder: dirname(full),
    name: dirname(path),
    kustomization: {
      fileName,
      text: isKustomizationText(text, path) ? text : JSON.stringify({ resources: [fileName] }),
    },
  };
}

export function asInputError(error: KustomizeError, { cwd }: Pick<Io, 'cwd'>): InputError {
  return new InputError([kustomizeProblem(error, (file) => readFileSync(resolve(cwd, file), 'utf8'))]);
}
