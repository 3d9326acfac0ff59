import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { type BuildContext, defaultPluginLimits, type HelmOptions } from '../build-context.ts';
import { decode, type Shape } from '../kustomization/decode.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { readSettings } from '../yaml/read.ts';
import { runPlugin } from './process.ts';
import { readOutput } from './result.ts';

/** An entry of `helmCharts`, with the fields of `helmGlobals`. */
interface HelmChart {
  readonly chartHome?: string | undefined;
  readonly configHome?: string | undefined;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly repo?: string | undefined;
  readonly releaseName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly nameTemplate?: string | undefined;
  readonly valuesFile?: string | undefined;
  readonly additionalValuesFiles?: readonly string[] | undefined;
  readonly valuesInline?: Json | undefined;
  readonly valuesMerge?: string | undefined;
  readonly includeCRDs?: boolean | undefined;
  readonly skipHooks?: boolean | undefined;
  readonly skipTests?: boolean | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly kubeVersion?: string | undefined;
  readonly debug?: boolean | undefined;
  readonly devel?: boolean | undefined;
}

const chartShape: Shape = {
  fields: {
    chartHome: 'text',
    configHome: 'text',
    name: 'text',
    version: 'text',
    repo: 'text',
    releaseName: 'text',
    namespace: 'text',
    nameTemplate: 'text',
    valuesFile: 'text',
    additionalValuesFiles: { list: 'text' },
    valuesInline: 'any',
    valuesMerge: 'text',
    includeCRDs: 'boolean',
    skipHooks: 'boolean',
    skipTests: 'boolean',
    apiVersions: { list: 'text' },
    kubeVersion: 'text',
    debug: 'boolean',
    devel: 'boolean',
  },
};

/** One rendering of a chart. */
interface Rendering {
  readonly chart: HelmChart;
  readonly name: string;
  readonly field: string;
  readonly helm: HelmOptions;
  /** Absolute. */
  readonly chartHome: string;
  readonly configHome: string;
  /** Deleted after the rendering. */
  readonly temporary: string;
  readonly context: BuildContext;
}

/** Renders a chart with `helm template`. A chart that is not in the chart home is pulled. */
export async function renderChart(
  config: JsonObject,
  field: string,
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  const { helm } = context.options;
  if (helm === undefined) {
    throw new KustomizeError('KYM_PLUGIN_DISABLED', 'charts are rendered by helm, which is disabled', {
      hint: 'helm runs templates and may download charts. If you trust them, use --enable-helm.',
    });
  }
  const options = { file: context.folder.file, lenient: true };
  const chart = (decode(config, chartShape, field, options) ?? {}) as HelmChart;
  const name = checkedName(chart, field);
  const temporary = mkdtempSync(join(tmpdir(), 'kymera-helm-'));
  try {
    const rendering: Rendering = {
      chart,
      name,
      field,
      helm,
      chartHome: chartHome(chart, name, temporary, context),
      configHome: chart.configHome ?? join(temporary, 'helm'),
      temporary,
      context,
    };
    if (!hasChart(rendering)) await pullChart(rendering);
    return readTemplates(await runHelm(templateArguments(rendering), rendering), rendering);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** helm must not take a name for an option or a path outside of the chart home. */
function checkedName({ name = '', releaseName = '' }: HelmChart, field: string): string {
  if (name === '') throw invalid('the chart has no name', field);
  if (name.startsWith('-') || name.split('/').includes('..') || isAbsolute(name)) {
    throw invalid(`${name} is not a name of a chart`, `${field}.name`);
  }
  if (releaseName.startsWith('-')) {
    throw invalid(`${releaseName} is not a name of a release`, `${field}.releaseName`);
  }
  return name;
}

function invalid(message: string, field: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, { field });
}

/** Charts with a version and a repository have a folder of their own, as in kustomize. */
function chartHome(
  chart: HelmChart,
  name: string,
  temporary: string,
  { folder, options }: BuildContext,
): string {
  const { version = '', repo = '' } = chart;
  const home = resolve(folder.root, chart.chartHome ?? 'charts');
  const isOutside = relative(folder.root, home).split('/')[0] === '..';
  if (isOutside && !(options.unrestricted && !folder.isFetched)) {
    throw new KustomizeError('KYM_KUSTOMIZE_OUTSIDE', `the chart home ${home} is not below the folder`, {
      field: 'helmGlobals.chartHome',
    });
  }
  const versioned =
    version !== '' && repo !== '' ? join(home, `${name}-${version.replaceAll('/', '_')}`) : home;
  // The cache of fetched repositories does not change.
  return folder.isFetched && !isFolder(join(versioned, name)) ? join(temporary, 'charts') : versioned;
}

function hasChart({ chartHome, name }: Rendering): boolean {
  return isFolder(join(chartHome, name));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function pullChart(rendering: Rendering): Promise<void> {
  const { chart, name, chartHome, context, field } = rendering;
  const { repo = '', version = '' } = chart;
  if (repo === '') {
    const message = `there is no chart ${name} in ${relative(context.folder.root, chartHome)}, and no repo to pull it from`;
    throw new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', message, { field });
  }
  if (context.options.offline === true) {
    throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', `the chart ${name} is remote, and --offline is set`, {
      field,
    });
  }
  if (repo.startsWith('-')) throw invalid(`${repo} is not an address of a repository`, `${field}.repo`);
  mkdirSync(chartHome, { recursive: true });
  const source = repo.startsWith('oci://') ? [`${repo.replace(/\/$/, '')}/${name}`] : ['--repo', repo, name];
  await runHelm(
    [
      ...['pull', '--untar', '--untardir', chartHome, ...source],
      ...(version === '' ? [] : ['--version', version]),
      ...(chart.devel === true ? ['--devel'] : []),
    ],
    rendering,
  );
}

/** The arguments of kustomize, in its order. */
function templateArguments(rendering: Rendering): readonly string[] {
  const { chart, name, chartHome, context, helm, field } = rendering;
  const { releaseName = '', namespace = '', nameTemplate = '' } = chart;
  const kubeVersion = chart.kubeVersion ?? helm.kubeVersion ?? '';
  const apiVersions = chart.apiVersions ?? helm.apiVersions ?? [];
  const extra = (chart.additionalValuesFiles ?? []).map((file, index) => {
    // Reading enforces the restrictions of the folder.
    context.folder.readBytes(file, `${field}.additionalValuesFiles[${index}]`);
    return resolve(context.folder.root, file);
  });
  return [
    'template',
    releaseName === '' ? '--generate-name' : releaseName,
    join(chartHome, name),
    ...(namespace === '' ? [] : ['--namespace', namespace]),
    ...(nameTemplate === '' ? [] : ['--name-template', nameTemplate]),
    ...[valuesFile(rendering), ...extra].flatMap((file) => ['-f', file]),
    ...apiVersions.flatMap((version) => ['--api-versions', version]),
    ...(kubeVersion === '' ? [] : ['--kube-version', kubeVersion]),
    ...(chart.includeCRDs === true ? ['--include-crds'] : []),
    ...(chart.skipTests === true ? ['--skip-tests'] : []),
    ...(chart.skipHooks === true ? ['--no-hooks'] : []),
    ...(chart.debug === true || helm.debug === true ? ['--debug'] : []),
    ...(chart.devel === true ? ['--devel'] : []),
  ];
}

/** Writes the values for helm: those of the chart or of `valuesFile`, merged with the inline ones. */
function valuesFile({ chart, name, chartHome, temporary, context, field }: Rendering): string {
  const inline = chart.valuesInline;
  const mode = chart.valuesMerge ?? 'override';
  if (!['override', 'merge', 'replace'].includes(mode)) {
    throw invalid(`${mode} is not one of override, merge and replace`, `${field}.valuesMerge`);
  }
  const path = chart.valuesFile ?? join(chartHome, name, 'values.yaml');
  const isPulled = chart.valuesFile === undefined && chartHome.startsWith(temporary);
  const read = () =>
    isPulled ? readFileSync(path, 'utf8') : context.folder.readText(path, `${field}.valuesFile`);
  const hasInline = isObject(inline) && Object.keys(inline).length > 0;
  const text = hasInline
    ? stringifyJson(mode === 'replace' ? inline : mergedValues(readSettings(read(), path), inline, mode))
    : read();
  const file = join(temporary, 'values.yaml');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** `override`: the inline values win; `merge`: the values of the file win. */
function mergedValues(fromFile: Json, inline: JsonObject, mode: string): Json {
  return mode === 'override' ? overlaid(fromFile, inline) : overlaid(inline, fromFile);
}

/** Null removes a value. */
function overlaid(below: Json, above: Json): Json {
  if (!isObject(above)) return above === null && isObject(below) ? below : above;
  const result = new Map<string, Json>(isObject(below) ? Object.entries(below) : []);
  for (const [key, value] of Object.entries(above)) {
    if (value === null) result.delete(key);
    else result.set(key, isObject(value) ? overlaid(result.get(key) ?? {}, value) : value);
  }
  return Object.fromEntries(result);
}

async function runHelm(args: readonly string[], rendering: Rendering): Promise<string> {
  const { context, helm, configHome, name } = rendering;
  const title = `helm ${args[0] ?? ''} of ${name}`;
  const result = await runPlugin(
    {
      title,
      path: helm.command,
      args,
      folder: context.folder.root,
      environment: {
        ...context.options.environment,
        HELM_CONFIG_HOME: configHome,
        HELM_CACHE_HOME: join(configHome, '.cache'),
        HELM_DATA_HOME: join(configHome, '.data'),
      },
      input: '',
      show: context.options.show,
    },
    context.options.pluginLimits ?? defaultPluginLimits,
  );
  if (result.exitCode === 0) return result.output;
  throw new KustomizeError('KYM_PLUGIN_FAILED', `${title} failed: ${result.messages.trim()}`);
}

/** helm may print messages before the first document. */
function readTemplates(output: string, { name, context }: Rendering): readonly JsonObject[] {
  const title = `helm template of ${name}`;
  try {
    return readOutput(output, title, context);
  } catch (error) {
    const start = /^---$/m.exec(output)?.index ?? 0;
    if (start === 0) throw error;
    return readOutput(output.slice(start), title, context);
  }
}
