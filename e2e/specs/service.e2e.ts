import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { kymera } from '../kymera.ts';
import { mutationPolicies, mutationSpecs } from '../mutation-specs.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { outsideAddress } from '../service.ts';
import { suite } from '../suite.ts';

const noAddress = outsideAddress() === undefined ? 'this machine has no address but loopback' : undefined;

suite(
  'a server behind a Service',
  (tests) => {
    const { settings, kubectl, namespace, before, after } = tests;
    const policies = mutationPolicies(namespace);
    let server: ClusterServer;
    before(async () => {
      server = await startClusterServer(settings, { reach: 'service' });
      await applyPolicies(kubectl, policies);
    });
    after(async () => {
      await kubectl.sendOk('delete', policies);
      await server.uninstall();
    });

    it('is registered by the name of the Service alone', async () => {
      const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
      const clients = (await kubectl.list(kinds)).flatMap(({ webhooks }) =>
        (webhooks as { clientConfig: object }[]).map(({ clientConfig }) => clientConfig),
      );
      expect(clients.length).toBeGreaterThan(1);
      for (const client of clients) {
        expect(client).toMatchObject({ service: { namespace: server.namespace, port: 443 } });
        expect(client).not.toHaveProperty('url');
      }
    });

    it('is healthy for the doctor', async () => {
      const { code, stdout, stderr } = await kymera('doctor', '--kubeconfig', settings.kubeconfig);
      expect(code, stdout + stderr).toBe(0);
    });

    mutationSpecs(tests);
  },
  noAddress,
);
