import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { managedSelector as managed } from '../../src/cluster/api/names.ts';
import { type Asked, askedBy, covers, describeGrant, type Granted, grantsOf } from '../audit.ts';
import { type BackgroundProcess, startBackgroundProcess } from '../background-process.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { auditLogName } from '../control-plane/program-arguments.ts';
import { documentedPolicy } from '../documented-policies.ts';
import {
  accountKubeconfig,
  accounts,
  accountUser,
  grant,
  hasRight,
  installedObjects,
  ownNamespace,
  revoke,
} from '../installation.ts';
import { kymera } from '../kymera.ts';
import { configMap, labelPolicy, mergePolicy } from '../objects.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

/** Permissions that no spec uses, with the reason why the chart grants them. */
const rarelyUsed: Readonly<Record<string, string>> = {
  'admission: get services': 'read before a namespaced Policy calls a Service',
  'background: get services': 'read before a namespaced Policy calls a Service',
  'admission: create configmaps in kymera': 'stores the first rule that blocked a replica',
  'admission: get configmaps in kymera': 'read before another blocked rule is stored',
  'admission: update configmaps in kymera': 'stores further rules that blocked a replica',
  'background: get namespaces': 'read if a namespace is newer than the cache',
};

const ofNirmata = documentedPolicy('seeds-002', 'a5').text;

const globalContextEntry = {
  apiVersion: 'kyverno.io/v2beta1',
  kind: 'GlobalContextEntry',
  metadata: { name: 'rights-entry' },
  spec: { kubernetesResource: { group: '', version: 'v1', resource: 'namespaces' } },
};

suite('the rights of the chart', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'rights-'));
  const own = kubectl.with(`--namespace=${ownNamespace}`);
  const resources = { namespaces: [namespace] };
  let server: ClusterServer;
  let background: BackgroundProcess | undefined;
  const hasEvent = (about: string) =>
    waitFor(
      async () => {
        const events = await kubectl.list('events.events.k8s.io', '--all-namespaces');
        return events.some((event) => JSON.stringify(event).includes(about));
      },
      { what: `an event about ${about}` },
    );
  before(async () => {
    server = await startClusterServer(settings, { args: ['--deployment', 'kymera-admission'] });
  });
  after(async () => {
    await background?.stop();
    await kubectl.run(['delete', 'mutatingpolicy', 'rights-generated', '--ignore-not-found']);
    await server.uninstall();
  });
  const as = async (account: (typeof accounts)[number]) =>
    kubectl.with(`--kubeconfig=${await accountKubeconfig(settings, account, folder)}`);

  it('suffice for policies of every kind, the data they read, and their events', async () => {
    await kubectl.sendOk('create', configMap('source', { answer: '42' }));
    const reading = mergePolicy(
      'rights-reading',
      'ConfigMap',
      { metadata: { labels: { answer: '{{ source.data.answer }}' } } },
      {
        resources: { ...resources, names: ['reader'] },
        rule: { context: [{ name: 'source', configMap: { name: 'source', namespace } }] },
      },
    );
    const failing = mergePolicy(
      'rights-failing',
      'ConfigMap',
      { metadata: { labels: { none: '{{ request.object.data.missing }}' } } },
      { resources: { ...resources, names: ['unlucky'] }, spec: { failurePolicy: 'Ignore' } },
    );
    const namespaced = {
      ...labelPolicy('rights-namespaced', 'ConfigMap', { seen: 'yes' }, { resources: { names: ['other'] } }),
      kind: 'Policy',
    };
    const policies = [
      reading,
      failing,
      { ...reading, apiVersion: 'kymera.io/v1', metadata: { name: 'rights-own' } },
      namespaced,
      { ...namespaced, apiVersion: 'kymera.io/v1', metadata: { name: 'rights-namespaced-own' } },
      ofNirmata,
      globalContextEntry,
    ];
    await applyPolicies(kubectl, policies);
    const { stdout } = await kubectl.sendOk('create', configMap('reader'), '-o', 'json');
    expect(JSON.parse(stdout).metadata.labels).toEqual({ answer: '42' });
    await kubectl.sendOk('create', configMap('unlucky'));
    await hasEvent('rights-failing');
    await kubectl.send('delete', policies, '--ignore-not-found');
  });

  it('suffice to generate, restore and delete MutatingAdmissionPolicies', async () => {
    const generating = (name: string) => ({
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'MutatingPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['limitranges'] },
          ],
        },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"seen": "yes"}}}' },
          },
        ],
        autogen: { mutatingAdmissionPolicy: { enabled: true } },
      },
    });
    const [policies, bindings] = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];
    const names = async () =>
      [
        ...(await kubectl.list(policies, `-l=${managed}`)),
        ...(await kubectl.list(bindings, `-l=${managed}`)),
      ].map(({ metadata }) => metadata.name);
    const namespaced = { ...generating('rights-within'), kind: 'NamespacedMutatingPolicy' };
    await applyPolicies(kubectl, [generating('rights-generated'), generating('rights-passing'), namespaced]);
    await kubectl.send('delete', namespaced);
    await waitFor(async () => (await names()).length === 4, { what: 'they are generated' });
    for (const [what, name, patch, path] of [
      [
        policies,
        'mpol-rights-generated',
        '{"spec":{"failurePolicy":"Ignore"}}',
        '{.spec.failurePolicy}=Fail',
      ],
      [
        bindings,
        'mpol-rights-generated-binding',
        '{"spec":{"policyName":"other"}}',
        '{.spec.policyName}=mpol-rights-generated',
      ],
    ] as const) {
      await kubectl.ok('patch', what, name, '--type=merge', `--patch=${patch}`);
      await kubectl.ok('wait', `--for=jsonpath=${path}`, `${what}/${name}`, patienceFlag);
    }
    // When the policy itself is deleted, the garbage collector of Kubernetes may be faster.
    const disabled = '{"spec":{"autogen":{"mutatingAdmissionPolicy":{"enabled":false}}}}';
    await kubectl.ok('patch', 'mutatingpolicy', 'rights-passing', '--type=merge', `--patch=${disabled}`);
    await waitFor(async () => (await names()).length === 2, { what: 'they are deleted' });
    await kubectl.ok('delete', 'mutatingpolicy', 'rights-passing');
  });

  it('suffice to change existing objects of kinds that a user has granted', async () => {
    await grant(kubectl, 'background', 'e2e-rights', [
      { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'patch'] },
    ]);
    await hasRight(kubectl, 'background', 'patch', 'services');
    background = await startBackgroundProcess(settings, { args: ['--ttl', '1'] });
    const rule = (text: string) => ({
      context: [{ name: 'source', configMap: { name: 'source', namespace } }],
      mutate: {
        mutateExistingOnPolicyUpdate: true,
        targets: [{ apiVersion: 'v1', kind: 'Service', name: 'target', namespace }],
        patchStrategicMerge: { metadata: { labels: { answer: text } } },
      },
    });
    const policy = (name: string, trigger: string, text: string) =>
      mergePolicy(name, 'ConfigMap', {}, { resources: { ...resources, names: [trigger] }, rule: rule(text) });
    const working = policy(
      'rights-targets',
      'trigger',
      '{{ source.data.answer }}-{{ request.object.data.count }}',
    );
    const failing = (field: string) =>
      policy('rights-targets-fail', 'unlucky-trigger', `{{ request.object.data.${field} }}`);
    const target = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'target' },
      spec: { ports: [{ port: 80 }] },
    };
    const mayPatchServices = async () => {
      const question = ['auth', 'can-i', 'patch', 'services', `--as=${accountUser('background')}`];
      return (await kubectl.run(question)).stdout.startsWith('yes');
    };
    const answer = async () => (await kubectl.get('service', 'target')).metadata.labels?.['answer'];
    await kubectl.sendOk('create', [
      target,
      configMap('trigger', { count: '1' }),
      configMap('unlucky-trigger'),
    ]);
    await applyPolicies(kubectl, [working]);
    await waitFor(async () => (await answer()) === '42-1', { what: 'the target, when the policy came' });
    await kubectl.sendOk('apply', configMap('trigger', { count: '2' }));
    await waitFor(async () => (await answer()) === '42-2', { what: 'the target, after its trigger' });
    await applyPolicies(kubectl, [failing('missing')]);
    await hasEvent('rights-targets-fail');
    // Takes the place of the request that failed.
    await applyPolicies(kubectl, [failing('absent')]);
    await revoke(kubectl, 'background', 'e2e-rights');
    await waitFor(async () => !(await mayPatchServices()), { what: 'the right to be gone' });
    await kubectl.sendOk('apply', configMap('trigger', { count: '4' }));
    const isRefused = async () => JSON.stringify(await own.list('updaterequests')).includes('add this role');
    await waitFor(isRefused, { what: 'a request that says which right is missing' });
    // The next trigger takes the place of the request that failed, which nobody tries again now.
    await background.stop();
    await kubectl.sendOk('apply', configMap('trigger', { count: '5' }));
    await waitFor(async () => !(await isRefused()), { what: 'the request to be replaced' });
    await kubectl.send('delete', [working, failing('missing')]);
  });

  it('suffice to renew certificates', async () => {
    const trusted = async () => {
      const [first] = (await kubectl.get('validatingwebhookconfiguration', 'kymera-policy-validation'))[
        'webhooks'
      ];
      return first.clientConfig.caBundle;
    };
    const before = await trusted();
    const worn = JSON.stringify({ data: { 'tls.crt': '', 'tls.key': '' } });
    await own.ok('patch', 'secret', 'kymera-ca', '--type=merge', '-p', worn);
    await waitFor(async () => (await trusted()) !== before, { what: 'another authority to be trusted' });
  });

  it('do not reach Secrets of others, nor those of its own namespace that are not its own', async () => {
    await kubectl.ok('create', 'secret', 'generic', 'private', '--from-literal=a=b');
    await own.ok('create', 'secret', 'generic', 'private', '--from-literal=a=b');
    for (const account of accounts) {
      const asAccount = await as(account);
      for (const args of [
        ['get', 'secret', 'private'],
        ['get', 'secret', 'private', `--namespace=${ownNamespace}`],
        ['get', 'secrets', '--all-namespaces'],
        ['get', 'secrets', `--namespace=${ownNamespace}`],
      ]) {
        const { code, stderr } = await asAccount.run(args);
        expect([account, args, code, stderr]).toEqual([
          account,
          args,
          1,
          expect.stringContaining('Forbidden'),
        ]);
      }
    }
    await own.ok('delete', 'secret', 'private');
  });

  it('do not extend to users: no user-facing role can read UpdateRequests', async () => {
    for (const role of ['view', 'edit', 'admin']) {
      await kubectl.ok(
        'create',
        'rolebinding',
        `of-${role}`,
        `--clusterrole=${role}`,
        `--user=who-may-${role}`,
      );
      const may = async (verb: string, resource: string) => {
        const { stdout } = await kubectl.run(['auth', 'can-i', verb, resource, `--as=who-may-${role}`]);
        return stdout.startsWith('yes');
      };
      await waitFor(() => may('list', 'policies.kyverno.io'), { what: `${role} to see policies` });
      expect(await may('get', 'updaterequests.kyverno.io')).toBe(false);
      expect(await may('create', 'policies.kyverno.io')).toBe(role === 'admin');
      expect(await may('create', 'policyexceptions.kyverno.io')).toBe(false);
    }
  });

  it('suffice for the doctor and for cleaning up, which stops the servers first', async () => {
    await server.kill(0);
    const kubeconfig = await accountKubeconfig(settings, 'hooks', folder);
    const webhook = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'kymera-resource-mutation', labels: { 'app.kubernetes.io/managed-by': 'kymera' } },
      webhooks: [
        {
          name: 'ignore.mutate.kymera.io',
          failurePolicy: 'Ignore',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'kymera-admission', namespace: ownNamespace } },
          rules: [],
        },
      ],
    };
    const chartObjects = installedObjects().filter(({ kind }) => kind === 'Deployment' || kind === 'Service');
    await own.sendOk('apply', chartObjects);
    // As in a cluster where it is called by its Service.
    await kubectl.send('delete', webhook);
    await kubectl.sendOk('create', webhook);
    const doctor = await kymera('doctor', '--kubeconfig', kubeconfig);
    expect(doctor.stdout + doctor.stderr).toContain('has no ready endpoints');
    const scaled = ['--scale-down=kymera-admission', '--scale-down=kymera-background', '--timeout=30'];
    const cleanup = await kymera('cleanup', '--all', '--kubeconfig', kubeconfig, ...scaled);
    expect(cleanup.stdout).toContain('stopped deployment kymera/kymera-admission');
    expect(cleanup.stdout).toContain('removed webhook configuration kymera-resource-mutation');
    expect(cleanup.stdout).toContain('removed generated mpol-rights-generated-binding');
    expect(cleanup.stdout).toContain('removed secret kymera/kymera-serving');
    expect(cleanup.stderr).toBe('');
    const deployments = await own.list('deployments');
    expect(deployments.map((each) => each['spec'].replicas)).toEqual([0, 0]);
    await own.send('delete', chartObjects);
  });

  it('are exactly those that are used: nothing is refused, and nothing is unused', async ({ skip }) => {
    if (settings.controlPlane === undefined) return skip('the audit log of this cluster cannot be read');
    const webhooks = () => kubectl.list('mutatingwebhookconfigurations', `--selector=${managed}`);
    await server.addReplica();
    await expect.poll(webhooks).not.toEqual([]);
    await server.stop();
    expect(await webhooks()).toEqual([]);
    const auditLog = join(settings.controlPlane, auditLogName);
    const granted = grantsOf(installedObjects());
    const [unused, refused]: [string[], string[]] = [[], []];
    for (const account of accounts) {
      const ofAccount = granted.filter((each) => each.account === account);
      const asked = askedBy(account, auditLog);
      const isUsed = (each: Granted) => asked.some((one) => one.isAllowed && covers(each, one));
      unused.push(...ofAccount.filter((each) => !isUsed(each)).map(describeGrant));
      // What is granted is refused while the API server starts; what policies act upon is for users to grant, or not.
      const isOurs = ({ group, resource, namespace: place }: Asked) =>
        (place === '' || place === ownNamespace) &&
        ofAccount.some((each) => each.group === group && each.resource === resource);
      const isProbe = ({ resource, name }: Asked) =>
        resource === 'secrets' && (name === '' || name === 'private');
      const surprising = asked.filter((one) => !one.isAllowed && isOurs(one) && !isProbe(one));
      refused.push(
        ...surprising
          .filter((one) => !ofAccount.some((each) => covers(each, one)))
          .map((one) => `${account}: ${JSON.stringify(one)}`),
      );
    }
    expect(refused).toEqual([]);
    expect(unused.filter((each) => rarelyUsed[each] === undefined)).toEqual([]);
  });
});
