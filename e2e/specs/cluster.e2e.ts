import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { mutationPolicies, mutationSpecs } from '../mutation-specs.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('a server with policies of the cluster', (tests) => {
  const { settings, kubectl, namespace, before, after } = tests;
  const policies = mutationPolicies(namespace);
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
    await applyPolicies(kubectl, policies);
  });
  after(async () => {
    await kubectl.sendOk('delete', policies);
    await server.uninstall();
  });

  mutationSpecs(tests);
});
