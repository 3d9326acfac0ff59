import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { kymera } from '../kymera.ts';
import { configMap, deployment, labelPolicy } from '../objects.ts';
import { applyPolicies, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('the end of a server', ({ settings, kubectl, namespace, before, after }) => {
  const policy = labelPolicy(
    'stays',
    'ConfigMap',
    { seen: 'yes' },
    { resources: { namespaces: [namespace] } },
  );
  const cluster = ['--kubeconfig', settings.kubeconfig];
  const webhooks = async () => {
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    return (await kubectl.list(kinds)).map(({ metadata }) => metadata.name);
  };
  const ends = async (code: number, ...args: string[]) => {
    const answer = await kymera(...args);
    expect(answer.code, answer.stdout + answer.stderr).toBe(code);
  };
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
    await applyPolicies(kubectl, [policy]);
  });
  after(async () => {
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'stays');
    await server.uninstall();
  });

  it('is graceful: the last replica removes the webhook configurations and keeps the policies', async () => {
    expect(await webhooks()).toHaveLength(2);
    await server.stop();
    expect(await webhooks()).toEqual([]);
    const { stdout } = await kubectl.sendOk('create', configMap('untouched'), '-o', 'json');
    expect(JSON.parse(stdout).metadata.labels).toBeUndefined();
    expect(await kubectl.ok('get', 'clusterpolicies.kyverno.io', 'stays')).toContain('stays');
    const { status } = await kubectl.get('clusterpolicies.kyverno.io', 'stays');
    expect(status.conditions[0]).toMatchObject({
      type: 'Ready',
      status: 'False',
      message: 'Not Ready: no server is running',
    });
  });

  it('is forced: the doctor finds what is left, and fixes it', async () => {
    await server.addReplica();
    await applyPolicies(kubectl, [policy]);
    await expect.poll(webhooks).toHaveLength(2);
    await ends(0, 'doctor', ...cluster);
    await server.kill(1);
    expect(await kubectl.send('create', configMap('held-up'))).toMatchObject({ code: 1 });
    await ends(1, 'doctor', ...cluster);
    await ends(0, 'doctor', '--fix', ...cluster);
    await kubectl.sendOk('create', configMap('let-through'));
  });

  it('leaves nothing after cleanup: no webhook configuration, Lease or Secret', async () => {
    await server.addReplica();
    await expect.poll(webhooks).toHaveLength(2);
    await server.kill(2);
    await ends(0, 'cleanup', '--all', ...cluster);
    expect(await webhooks()).toEqual([]);
    const own = kubectl.with(`--namespace=${server.namespace}`);
    expect(await own.ok('get', 'leases,secrets', '-o', 'name')).toBe('');
  });
});

suite('the end of a Deployment', ({ settings, kubectl, namespace, before, after }) => {
  const name = 'kymera-admission';
  let server: ClusterServer;
  const own = () => kubectl.with(`--namespace=${server.namespace}`);
  const webhooks = async () => {
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    return (await kubectl.list(kinds)).map(({ metadata }) => metadata.name);
  };
  before(async () => {
    server = await startClusterServer(settings, { replicas: 2, args: ['--deployment', name] });
    await own().sendOk('create', deployment(name));
  });
  after(async () => {
    await own().ok('delete', 'deployment', name);
    await server.uninstall();
  });

  it('is noticed even if the leader was lost before it is scaled to zero', async () => {
    const resources = { namespaces: [namespace] };
    await withPolicies(
      kubectl,
      [labelPolicy('ends', 'ConfigMap', { seen: 'yes' }, { resources })],
      async () => {
        await expect.poll(webhooks).toHaveLength(2);
        const lease = await own().get('lease', 'kymera');
        const leads = (replica: number) => server.output(replica).includes(lease['spec'].holderIdentity);
        await server.kill(leads(0) ? 0 : 1);
        await own().ok('scale', 'deployment', name, '--replicas=0');
        await server.stop();
        expect(await webhooks()).toEqual([]);
      },
    );
  });
});
