import { expect, it } from 'vitest';
import { mutationPolicies, mutationSpecs } from '../mutation-specs.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { becomesTrue } from '../policies-in-force.ts';
import { type StandaloneServer, startStandaloneServer } from '../standalone-server.ts';
import { suite } from '../suite.ts';

suite('a server with policies from a folder', (tests) => {
  const { settings, kubectl, namespace, before, after } = tests;
  let server: StandaloneServer;
  before(async () => {
    server = await startStandaloneServer(settings, { 'policies.yaml': mutationPolicies(namespace) });
    await kubectl.sendOk('apply', server.configuration);
    const seen = configMap('probe');
    await becomesTrue(
      kubectl,
      'the webhook',
      seen,
      ({ metadata }) => metadata.labels?.['managed'] === 'true',
    );
  });
  after(async () => {
    await kubectl.send('delete', server.configuration, '--ignore-not-found');
    await server.remove();
  });

  mutationSpecs(tests);

  it('reloads a changed file', async () => {
    const changed = labelPolicy('label-config-maps', 'ConfigMap', { version: 'two' });
    server.writePolicies('policies.yaml', [changed]);
    await becomesTrue(
      kubectl,
      'the change',
      configMap('x'),
      ({ metadata }) => metadata.labels?.['version'] === 'two',
    );
  });

  it('stopped, with failurePolicy Ignore, lets everything pass', async () => {
    await server.stop();
    const ignoring = server.configuration.replaceAll(/failurePolicy: \w+/g, 'failurePolicy: Ignore');
    await kubectl.sendOk('apply', ignoring);
    const { stdout } = await kubectl.sendOk('create', configMap('passes'), '-o', 'json');
    expect(JSON.parse(stdout).metadata.labels).toBeUndefined();
  });

  it('stopped, with failurePolicy Fail, denies what it covers', async () => {
    const failing = server.configuration.replaceAll(/failurePolicy: \w+/g, 'failurePolicy: Fail');
    await kubectl.sendOk('apply', failing);
    const answer = await kubectl.send('create', configMap('denied'));
    expect(answer.code).toBe(1);
    expect(answer.stderr).toContain('failed calling webhook');
  });
});
