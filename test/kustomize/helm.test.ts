import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeUnless, unlessInstalled } from '../needs.testing.ts';
import { type BuildCase, build, failureOf, objectsOf } from './build-fixture.ts';

/** The helm of the e2e tests, where it is built, or one on the PATH. */
function helmProgram(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kymera/helm');
  const built = existsSync(cache) ? readdirSync(cache).map((version) => join(cache, version, 'helm')) : [];
  return process.env['HELM'] ?? built.find((path) => existsSync(path)) ?? 'helm';
}
const helm = helmProgram();
const missing = helm === 'helm' ? unlessInstalled('helm') : undefined;

const chart = {
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'charts/web/values.yaml': 'size: 1\nlist: [a, b]\nnested: {x: 1, keep: 2}\n',
  'charts/web/crds/crd.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boxes.example.com}\n',
  'charts/web/templates/cm.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-cm
  namespace: {{ .Release.Namespace }}
data:
  values: {{ .Values | toJson | quote }}
  kube: {{ .Capabilities.KubeVersion.Version | quote }}
  has: {{ .Capabilities.APIVersions.Has "example.com/v9" | quote }}
---
apiVersion: v1
kind: Pod
metadata:
  name: check
  annotations: {"helm.sh/hook": test}
spec: {containers: [{name: a, image: b}]}
`,
};
const withChart = (kustomization: string, more: Readonly<Record<string, string>> = {}): BuildCase => ({
  files: { ...chart, 'kustomization.yaml': kustomization, ...more },
  flags: ['--enable-helm', '--helm-command', helm],
});
const entry = (fields: string) => `helmCharts: [{name: web, releaseName: rel, skipTests: true, ${fields}}]\n`;

async function valuesOf(fields: string, more: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const [object] = await objectsOf(withChart(entry(fields), more));
  return JSON.parse((object as { data: { values: string } }).data.values);
}

describeUnless(missing)('charts', () => {
  test('are rendered with the options of kustomize', async () => {
    const options = 'namespace: ns, includeCRDs: true, apiVersions: [example.com/v9], kubeVersion: 1.30.0';
    const objects = await objectsOf(withChart(`namespace: other\nnamePrefix: p-\n${entry(options)}`));
    expect(objects).toMatchObject([
      { kind: 'CustomResourceDefinition', metadata: { name: 'boxes.example.com' } },
      { metadata: { name: 'p-rel-cm', namespace: 'ns' }, data: { kube: 'v1.30.0', has: 'true' } },
    ]);
  });

  test('skipHooks and skipTests leave out hooks and tests', async () => {
    const kinds = async (option: string) =>
      (await objectsOf(withChart(`helmCharts: [{name: web, releaseName: r${option}}]\n`))).map(
        ({ kind }) => kind,
      );
    expect(await kinds('')).toEqual(['ConfigMap', 'Pod']);
    expect(await kinds(', skipTests: true')).toEqual(['ConfigMap']);
    expect(await kinds(', skipHooks: true')).toEqual(['ConfigMap']);
  });

  test('values: inline over the file, the file over inline, inline alone', async () => {
    const inline = 'valuesInline: {size: 3, nested: {x: 5, keep: null}, more: [1]}';
    const own = { 'own.yaml': 'size: 9\nnested: {x: 8}\n' };
    const file = 'valuesFile: own.yaml';
    expect(await valuesOf(inline)).toMatchObject({ size: 3, nested: { x: 5 }, list: ['a', 'b'], more: [1] });
    expect(await valuesOf(`${file}, ${inline}`, own)).toMatchObject({ size: 3, nested: { x: 5 } });
    expect(await valuesOf(`${file}, ${inline}, valuesMerge: merge`, own)).toMatchObject({
      size: 9,
      nested: { x: 8 },
      more: [1],
    });
    expect(await valuesOf(`${file}, ${inline}, valuesMerge: replace`, own)).toMatchObject({ size: 3 });
    expect(await valuesOf('additionalValuesFiles: [own.yaml]', own)).toMatchObject({ size: 9 });
  });

  test('generator configs and the deprecated field', async () => {
    const config =
      'apiVersion: builtin\\nkind: HelmChartInflationGenerator\\nmetadata: {name: x}\\nname: web\\nreleaseName: g\\n';
    const generated = await objectsOf(withChart(`generators: ["${config}"]\n`));
    expect(generated[0]).toMatchObject({ metadata: { name: 'g-cm' } });
    const old = 'helmChartInflationGenerator: [{chartName: web, releaseName: o, valuesLocal: {size: 4}}]\n';
    expect((await objectsOf(withChart(old)))[0]).toMatchObject({ metadata: { name: 'o-cm' } });
  });

  test('an error of a template is the error of the build', async () => {
    const broken = { 'charts/web/templates/cm.yaml': '{{ fail "no luck" }}' };
    const failure = await failureOf(withChart(entry('namespace: a'), broken));
    expect(failure).toContain('no luck');
    expect(failure).toContain('helmCharts[0]');
  });
});

/** Prints its arguments as a ConfigMap; `pull` creates the chart. */
const fakeHelm = `#!/bin/sh
if [ "$1" = pull ]; then mkdir -p "$4/web" && echo "a: 1" > "$4/web/values.yaml"; printf '%s ' "$@" > pulled; exit; fi
echo "WARNING: a message"
echo "---"
echo "apiVersion: v1"
echo "kind: ConfigMap"
echo "metadata: {name: fake}"
echo "data: {args: '$*', home: '$HELM_CONFIG_HOME'}"
`;
const withFake = (kustomization: string, flags: readonly string[] = []): BuildCase => ({
  files: { 'kustomization.yaml': kustomization, 'bin/fake': fakeHelm },
  flags: ['--enable-helm', '--helm-command', './bin/fake', ...flags],
});

test('a chart that is missing is pulled into the chart home', async () => {
  const kustomization =
    'helmGlobals: {chartHome: all, configHome: /config}\nhelmCharts: [{name: web, version: 1.2.3, repo: https://charts.example, devel: true, nameTemplate: fixed}]\n';
  const { folder, objects, stderr } = await build(withFake(kustomization));
  expect(stderr).toBe('');
  const home = join(folder, 'all/web-1.2.3');
  expect(readFileSync(join(folder, 'pulled'), 'utf8').trim()).toBe(
    `pull --untar --untardir ${home} --repo https://charts.example web --version 1.2.3 --devel`,
  );
  expect(objects).toMatchObject([
    {
      data: {
        args: expect.stringMatching(
          `^template --generate-name ${home}/web --name-template fixed -f \\S+/values.yaml --devel$`,
        ),
        home: '/config',
      },
    },
  ]);
});

test.each<[string, readonly string[], string]>([
  [
    'helmCharts: [{name: web, repo: https://charts.example}]',
    ['--offline'],
    'is remote, and --offline is set',
  ],
  ['helmCharts: [{name: web}]', [], 'no repo to pull it from'],
  ['helmCharts: [{}]', [], 'the chart has no name'],
  ['helmCharts: [{name: ../x}]', [], '../x is not a name of a chart'],
  ['helmCharts: [{name: --post-renderer=x}]', [], 'is not a name of a chart'],
  ['helmCharts: [{name: web, releaseName: --post-renderer=x}]', [], 'is not a name of a release'],
  ['helmCharts: [{name: web, repo: -x}]', [], 'is not an address of a repository'],
  ['helmGlobals: {chartHome: ../..}\nhelmCharts: [{name: web}]', [], 'is not below the folder'],
])('%s is refused', async (kustomization, flags, message) => {
  const failure = await failureOf(withFake(`${kustomization}\n`, flags));
  expect(failure).toContain(message);
  expect(failure).toContain('kustomization.yaml');
});

test('charts need --enable-helm', async () => {
  const failure = await failureOf({ files: { 'kustomization.yaml': 'helmCharts: [{name: web}]\n' } });
  expect(failure).toContain('use --enable-helm');
});

test('without helm, the message says so', async () => {
  const files = { ...chart, 'kustomization.yaml': entry('namespace: a') };
  const failure = await failureOf({ files, flags: ['--enable-helm', '--helm-command', 'no-such-helm'] });
  expect(failure).toContain('helm template of web cannot be started');
});
