import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { startLoad } from '../load.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('certificates', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, { replicas: 2 });
  });
  after(async () => server.uninstall());

  const encode = (text: string) => Buffer.from(text).toString('base64');
  const decode = (text: string) => Buffer.from(text, 'base64').toString('utf8');
  const bundles = async () => {
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const configurations = await kubectl.list(kinds);
    return configurations.flatMap(({ webhooks }) =>
      (webhooks as { clientConfig: { caBundle: string } }[]).map(({ clientConfig }) =>
        decode(clientConfig.caBundle),
      ),
    );
  };

  const policy = labelPolicy(
    'labelled',
    'ConfigMap',
    { seen: 'yes' },
    { resources: { namespaces: [namespace] } },
  );

  it('are rotated under load, the authority too, without a review lost', async () => {
    await withPolicies(kubectl, [policy], async () => {
      const load = await startLoad(settings, { namespace, label: 'seen' });
      const own = kubectl.with(`--namespace=${server.namespace}`);
      const authority = await createAuthority('the next authority');
      const secret = await own.get('secret', 'kymera-ca');
      const data = {
        'tls.crt': encode(`${authority.certificate}\n${decode(secret['data']['tls.crt'])}`),
        'tls.key': encode(authority.key),
      };
      await own.ok('patch', 'secret', 'kymera-ca', '-p', JSON.stringify({ data }));
      await waitFor(async () => (await bundles()).every((pem) => pem.match(/BEGIN/g)?.length === 2), {
        what: 'both authorities to be trusted by every webhook',
      });
      await own.ok('delete', 'secret', 'kymera-serving');
      for (const port of server.ports()) {
        await waitFor(async () => (await servedIssuer(server.host, port)) === 'CN=the next authority', {
          what: 'a certificate of the new authority',
        });
      }
      const { count, problems } = await load.stop();
      expect(problems).toEqual([]);
      expect(count).toBeGreaterThan(50);
    });
  });

  it('survive the deletion of the authority under load: the next one is trusted beside it', async () => {
    await withPolicies(kubectl, [policy], async () => {
      const own = kubectl.with(`--namespace=${server.namespace}`);
      const signing = async () => first(decode((await own.get('secret', 'kymera-ca'))['data']['tls.crt']));
      const deleted = await signing();
      const load = await startLoad(settings, { namespace, label: 'seen' });
      await own.ok('delete', 'secret', 'kymera-ca');
      await waitFor(async () => (await signing()) !== deleted, { what: 'another authority' });
      await waitFor(
        async () => (await bundles()).every((pem) => first(pem) !== deleted && pem.includes(deleted)),
        {
          what: 'every webhook to trust both',
        },
      );
      const { count, problems } = await load.stop();
      expect(problems).toEqual([]);
      expect(count).toBeGreaterThan(50);
    });
  });

  it('survive the deletion of everything under load', async () => {
    await withPolicies(kubectl, [policy], async () => {
      const own = kubectl.with(`--namespace=${server.namespace}`);
      const load = await startLoad(settings, { namespace, label: 'seen' });
      await own.ok('delete', 'secret', 'kymera-ca', 'kymera-serving');
      await waitFor(() => own.get('secret', 'kymera-serving'), { what: 'a serving certificate' });
      await waitFor(() => own.get('secret', 'kymera-ca'), { what: 'an authority' });
      const { problems } = await load.stop();
      expect(problems).toEqual([]);
    });
  });
});

suite('certificates brought by the user', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-e2e-own-'));
  const file = (name: string) => join(folder, name);
  let server: ClusterServer;
  /** As cert-manager does, which keeps three files up to date. */
  const bring = async (name: string) => {
    const authority = await createAuthority(name);
    const serving = await authority.issue({ name: 'kymera', hosts: [settings.host] });
    writeFileSync(file('ca.crt'), authority.certificate);
    writeFileSync(file('tls.crt'), serving.certificate);
    writeFileSync(file('tls.key'), serving.key);
  };
  before(async () => {
    await bring('the first');
    const args = ['--tls-cert', file('tls.crt'), '--tls-key', file('tls.key'), '--ca-bundle', file('ca.crt')];
    server = await startClusterServer(settings, { reach: 'url', args });
  });
  after(async () => server.uninstall());

  it('are followed when they are renewed, the authority too', async () => {
    const resources = { namespaces: [namespace] };
    await withPolicies(
      kubectl,
      [labelPolicy('own', 'ConfigMap', { seen: 'yes' }, { resources })],
      async () => {
        const load = await startLoad(settings, { namespace, label: 'seen' });
        await bring('the second');
        const [port = 0] = server.ports();
        await waitFor(async () => (await servedIssuer(server.host, port)) === 'CN=the second', {
          what: 'the new certificate',
        });
        expect((await load.stop()).problems).toEqual([]);
        // Not by a connection that is open still.
        await server.addReplica();
        await server.kill(0);
        const shown = await kubectl.sendOk('create', configMap('x'), '--dry-run=server', '-o', 'json');
        expect(JSON.parse(shown.stdout).metadata.labels).toEqual({ seen: 'yes' });
      },
    );
  });
});

/** The first certificate of a bundle, without its last line break. */
function first(pem: string): string {
  return /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0] ?? '';
}

function servedIssuer(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).issuer);
      socket.end();
    });
    socket.once('error', reject);
  });
}
