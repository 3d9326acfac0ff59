import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { installCustomResources, removeCustomResources } from '../custom-resources.ts';
import { chart, createHelm, helmMissing, objectsIn } from '../helm.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { kymera } from '../kymera.ts';
import { suite } from '../suite.ts';
import { tokenKubeconfig } from '../token-kubeconfig.ts';

const crdNames = readdirSync(fileURLToPath(new URL('../../deploy/crds', import.meta.url))).map((file) =>
  file.replace(/\.yaml$/, ''),
);
/** A Kyverno that came first: a definition with fewer fields than ours, and its webhooks. */
const foreign = {
  crd: parse(`
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata:
      name: clusterpolicies.kyverno.io
      labels: { app.kubernetes.io/part-of: kyverno, app.kubernetes.io/managed-by: Helm }
      annotations: { meta.helm.sh/release-name: kyverno, meta.helm.sh/release-namespace: kyverno }
    spec:
      group: kyverno.io
      scope: Cluster
      names: { kind: ClusterPolicy, plural: clusterpolicies, singular: clusterpolicy, listKind: ClusterPolicyList }
      versions:
        - name: v1
          served: true
          storage: true
          subresources: { status: {} }
          schema:
            openAPIV3Schema:
              type: object
              x-kubernetes-preserve-unknown-fields: true`),
  webhook: parse(`
    apiVersion: admissionregistration.k8s.io/v1
    kind: MutatingWebhookConfiguration
    metadata: { name: kyverno-resource-mutating-webhook-cfg, labels: { webhook.kyverno.io/managed-by: kyverno } }
    webhooks: []`),
};

const webhook = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'kymera-resource-mutation', labels: { 'app.kubernetes.io/managed-by': 'kymera' } },
  webhooks: [],
};

suite(
  'chart in a cluster',
  ({ settings, kubectl, namespace, before, after }) => {
    const helm = createHelm(settings);
    const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'chart-'));
    const release = ['trial', chart, `--namespace=${namespace}`, '--disable-openapi-validation'];
    const gone = ['trial', `--namespace=${namespace}`, '--no-hooks'];
    const definitions = async () => {
      const found = await kubectl.list('customresourcedefinitions');
      return found.filter(({ metadata }) => crdNames.includes(metadata.name));
    };
    /** What the container of the hook is started with. */
    const hookArguments = async (): Promise<readonly string[]> => {
      const hooks = objectsIn(await helm.ok('get', 'hooks', ...gone.slice(0, 2)));
      const job = hooks.find(({ kind }) => kind === 'Job');
      expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-delete' });
      return job?.['spec'].template.spec.containers[0].args;
    };
    const forget = async () => {
      await removeCustomResources(kubectl, crdNames);
      await kubectl.ok('delete', 'secrets', '--selector=owner=helm');
    };
    before(forget);
    after(async () => {
      await forget();
      await installCustomResources(kubectl);
    });

    it('is installed with its definitions, in a record that fits into a Secret', async () => {
      await helm.ok('install', ...release);
      expect((await definitions()).map(({ metadata }) => metadata.name).toSorted()).toEqual(crdNames);
      const [record] = await kubectl.list('secrets', '--selector=owner=helm');
      // Half of the megabyte that a Secret may have.
      expect(record?.['data'].release.length).toBeLessThan(512 * 1024);
      expect((await kubectl.list('deployments')).map(({ metadata }) => metadata.name)).toEqual([
        'trial-kymera-admission',
        'trial-kymera-background',
      ]);
    });

    it('is upgraded, its definitions too', async () => {
      await helm.ok('upgrade', ...release, '--set=admission.replicas=3,commonLabels.team=platform');
      const upgraded = await kubectl.get('crd', 'policies.kyverno.io');
      expect(upgraded.metadata.labels).toMatchObject({ team: 'platform' });
      expect((await kubectl.get('deployment', 'trial-kymera-admission'))['spec'].replicas).toBe(3);
    });

    it('cleans up before it is uninstalled, with the rights of its hook', async () => {
      const args = await hookArguments();
      const kubeconfig = await tokenKubeconfig(kubectl, 'trial-kymera-hooks', folder);
      // Of a server that was lost.
      await kubectl.sendOk('create', webhook);
      const done = await kymera(...args, '--kubeconfig', kubeconfig);
      expect(done.stdout).toContain('removed webhook configuration kymera-resource-mutation');
      expect(done).toMatchObject({ code: 0, stderr: '' });
      const deployments = await kubectl.list('deployments');
      expect(deployments.map((each) => each['spec'].replicas)).toEqual([0, 0]);
    });

    it('is not blocked by a hook that fails', async () => {
      const kubeconfig = await tokenKubeconfig(kubectl, 'default', folder);
      const { code, stderr } = await kymera(...(await hookArguments()), '--kubeconfig', kubeconfig);
      expect(stderr).toMatch(/^failed: .*forbidden/im);
      expect(code).toBe(0);
    });

    it('is uninstalled without its hooks, and leaves definitions and nothing else', async () => {
      // From now on it makes none: those that it has made stay.
      await helm.ok('upgrade', ...release, '--set=crds.install=never');
      await helm.ok('uninstall', ...gone);
      expect(await definitions()).toHaveLength(crdNames.length);
      const label = '--selector=app.kubernetes.io/instance=trial';
      const left =
        'deployments,services,serviceaccounts,roles,rolebindings,configmaps,clusterroles,clusterrolebindings';
      expect(await kubectl.list(left, label)).toEqual([]);
    });

    it('adopts its CRDs again, and removes them if configured', async () => {
      await helm.ok('install', ...release, '--set=crds.keep=false');
      await helm.ok('uninstall', ...gone);
      await expect.poll(definitions).toEqual([]);
    });

    it('neither replaces, changes nor deletes objects of Kyverno', async () => {
      await kubectl.sendOk('create', [foreign.crd, foreign.webhook]);
      await kubectl.ok('wait', '--for=condition=Established', 'crd/clusterpolicies.kyverno.io');
      const state = async () => {
        const found = [
          await kubectl.get('crd', 'clusterpolicies.kyverno.io'),
          await kubectl.get('mutatingwebhookconfiguration', foreign.webhook.metadata.name),
        ];
        return found.map(({ metadata }: KubernetesObject) => metadata.resourceVersion);
      };
      const before = await state();
      const always = await helm.run('install', ...release, '--set=crds.install=always');
      expect(always.code).not.toBe(0);
      expect(always.stderr).toContain('clusterpolicies.kyverno.io');
      const notes = await helm.ok('install', ...release);
      expect(notes).toContain('clusterpolicies.kyverno.io does not belong to this release');
      expect(await definitions()).toHaveLength(crdNames.length);
      await helm.ok('uninstall', ...gone);
      expect(await state()).toEqual(before);
      await kubectl.send('delete', foreign.webhook);
    });
  },
  helmMissing,
);
