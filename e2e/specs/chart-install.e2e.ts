import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { installCustomResources } from '../custom-resources.ts';
import { chart, createHelm, helmMissing } from '../helm.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { suite } from '../suite.ts';

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

suite(
  'chart in a cluster',
  ({ settings, kubectl, namespace, before, after }) => {
    const helm = createHelm(settings);
    const release = ['trial', chart, `--namespace=${namespace}`, '--disable-openapi-validation'];
    const gone = ['trial', `--namespace=${namespace}`, '--no-hooks'];
    const definitions = async () => {
      const found = await kubectl.list('customresourcedefinitions');
      return found.filter(({ metadata }) => crdNames.includes(metadata.name));
    };
    const forget = async () => {
      await kubectl.ok('delete', 'crds', ...crdNames, '--ignore-not-found');
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

    it('takes up its definitions again, and removes them when it is told to', async () => {
      await helm.ok('install', ...release, '--set=crds.keep=false');
      await helm.ok('uninstall', ...gone);
      await expect.poll(definitions, { timeout: 30_000 }).toEqual([]);
    });

    it('neither replaces, changes nor deletes what a Kyverno has made', async () => {
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
      expect(notes).toContain('clusterpolicies.kyverno.io belongs to somebody else');
      expect(await definitions()).toHaveLength(crdNames.length);
      await helm.ok('uninstall', ...gone);
      expect(await state()).toEqual(before);
      await kubectl.send('delete', foreign.webhook);
    });
  },
  helmMissing,
);
