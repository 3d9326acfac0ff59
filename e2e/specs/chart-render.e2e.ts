import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { blocksOf, markdownPages } from '../../test/docs/pages.testing.ts';
import { chart, createHelm, everyValue, helmMissing, objectsIn } from '../helm.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { pod } from '../objects.ts';
import { givenHelm } from '../settings.ts';
import { suite } from '../suite.ts';
import { patienceFlag } from '../wait-for.ts';

const foreignKinds = fileURLToPath(new URL('../helm/foreign-kinds.yaml', import.meta.url));
/** Ways to install it that render different objects. */
const withoutCrds = '--set=crds.install=never';
const variants: Readonly<Record<string, readonly string[]>> = {
  'as it comes': [],
  'with every value set': ['-f', everyValue],
  'in one process': [withoutCrds, '--set=background.mode=admission,admission.replicas=1'],
  'without background': [withoutCrds, '--set=background.mode=off'],
  'with certificates of an authority of its own': [withoutCrds, '--set=tls.certManager.enabled=true'],
  'with a certificate that was brought': [withoutCrds, '--set=tls.secretName=brought'],
  'with all that is optional': [
    withoutCrds,
    '--set=networkPolicy.enabled=true,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true',
    '--set=metrics.dashboard.enabled=true,admission.autoscaling.enabled=true',
  ],
};

suite(
  'chart',
  ({ settings, kubectl, namespace, before, after }) => {
    const helm = createHelm(settings);
    before(async () => {
      await kubectl.ok('apply', '-f', foreignKinds);
      await kubectl.ok('wait', '--for=condition=Established', '-f', foreignKinds, patienceFlag);
      const label = 'pod-security.kubernetes.io/enforce=restricted';
      await kubectl.ok('label', 'namespace', namespace, label, '--overwrite');
      // Pods are refused without them.
      const objects = await helm.template('trial', namespace, withoutCrds);
      await kubectl.sendOk(
        'apply',
        objects.filter(({ kind }) => kind === 'ServiceAccount'),
        '--server-side',
      );
    });
    after(() => kubectl.ok('delete', '-f', foreignKinds, '--wait=false'));

    it.each(Object.entries(variants))('passes the linter %s', async (_, args) => {
      const { code, stdout } = await helm.run('lint', '--strict', chart, ...args);
      expect(code, stdout).toBe(0);
    });

    it.each(Object.entries(variants))('is accepted by the API server %s', async (_, args) => {
      const objects = await helm.template('trial', namespace, ...args);
      expect(objects.length).toBeGreaterThan(15);
      const { code, stderr } = await kubectl.send(
        'apply',
        objects,
        '--server-side',
        '--force-conflicts',
        '--dry-run=server',
        '--validate=strict',
      );
      // That the network of the host is against the restricted level is said rightly.
      expect(stderr.replaceAll(/^Warning: would violate .*hostNetwork=true\)$/gm, '')).not.toMatch(
        /warning/i,
      );
      expect(code, stderr).toBe(0);
    });

    it('is what deploy/ holds', async () => {
      const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve) => {
        const script = fileURLToPath(new URL('../../scripts/render-deploy.mjs', import.meta.url));
        execFile(
          process.execPath,
          [script, '--check'],
          { env: { ...process.env, HELM: givenHelm } },
          (error, text) => resolve({ code: error === null ? 0 : 1, stdout: text }),
        );
      });
      expect(stdout).toBe('');
      expect(code).toBe(0);
      const kustomized = await kubectl.ok(
        'kustomize',
        fileURLToPath(new URL('../../deploy', import.meta.url)),
      );
      const kinds = objectsIn(kustomized).map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(['Namespace', 'CustomResourceDefinition', 'Deployment']));
    });

    it('is installed as the documentation says', async () => {
      const commands = markdownPages()
        .filter(({ path }) => path.startsWith('docs/'))
        .flatMap(blocksOf)
        .flatMap(({ text }) => text.match(/^helm (?:install|upgrade) .*/gm) ?? []);
      expect(commands.length).toBeGreaterThan(4);
      for (const command of commands) {
        const [release = '', ...words] = command
          .replace(/^helm (?:install|upgrade --install) /, '')
          .split(' ');
        const given = words.filter((word) => !['charts/kymera', '--create-namespace'].includes(word));
        const { code, stderr } = await helm.run('template', release, chart, ...given, withoutCrds);
        expect(code, `${command}: ${stderr}`).toBe(0);
      }
    });

    it('lets policies read Secrets only if configured', async () => {
      const canReadSecrets = async (...args: string[]) => {
        const roles = (await helm.template('trial', namespace, withoutCrds, ...args)).filter(
          ({ kind }) => kind === 'ClusterRole',
        );
        return roles
          .filter(({ rules = [] }) =>
            rules.some(({ resources }: { resources: string[] }) => resources.includes('secrets')),
          )
          .map(({ metadata }) => metadata.name);
      };
      expect(await canReadSecrets()).toEqual([]);
      expect(await canReadSecrets('--set=rbac.secrets=true')).toEqual([
        'trial-kymera-admission-core',
        'trial-kymera-background-core',
      ]);
    });

    it('creates Pods that the restricted Pod Security level admits', async () => {
      const refused = await kubectl.send('create', pod('careless'), '--dry-run=server');
      expect(refused.stderr).toContain('violates PodSecurity "restricted');
      const objects = await helm.template('trial', namespace, withoutCrds);
      const pods = objects.flatMap(podsOf);
      expect(pods.map(({ metadata }) => metadata.name).toSorted()).toEqual([
        'trial-kymera-admission',
        'trial-kymera-background',
        'trial-kymera-cleanup',
        'trial-kymera-doctor',
      ]);
      for (const each of pods) await kubectl.sendOk('create', each, '--dry-run=server');
    });

    it.each([
      ['admission.replicas=0', '/admission/replicas'],
      ['crds.install=sometimes', '/crds/install'],
      ['admision.replicas=2', "additional properties 'admision' not allowed"],
    ])('refuses %s', async (value, complaint) => {
      const { code, stderr } = await helm.run('template', 'trial', chart, `--set=${value}`);
      expect(code).not.toBe(0);
      expect(stderr).toContain(complaint);
    });
  },
  helmMissing,
);

/** What the object starts, as a Pod of its own. */
function podsOf(object: KubernetesObject): readonly KubernetesObject[] {
  const { name } = object.metadata;
  if (object.kind === 'Pod') return [object];
  if (object.kind !== 'Deployment' && object.kind !== 'Job') return [];
  const { metadata, spec } = object['spec'].template;
  return [{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec }];
}
