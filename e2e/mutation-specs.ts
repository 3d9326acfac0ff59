import { expect, it } from 'vitest';
import type { JsonObject } from '../src/json/value.ts';
import { configMap, deployment, labelPolicy, mergePolicy, pod } from './objects.ts';
import type { Suite } from './suite.ts';
import { waitFor } from './wait-for.ts';

const missing = '{{ request.object.metadata.labels.missing }}';

/** The policies that `mutationSpecs` expects, for the namespace of the suite. */
export function mutationPolicies(namespace: string): readonly JsonObject[] {
  const resources = { namespaces: [namespace] };
  return [
    labelPolicy('label-config-maps', 'ConfigMap', { '+(team)': 'unknown', managed: 'true' }, { resources }),
    mergePolicy(
      'pull-if-not-present',
      'Pod',
      { spec: { containers: [{ '(image)': '*:latest', imagePullPolicy: 'IfNotPresent' }] } },
      { resources },
    ),
    labelPolicy('warn-of-secrets', 'Secret', { checked: 'true' }, { resources, spec: { emitWarning: true } }),
    labelPolicy(
      'only-audited',
      'ServiceAccount',
      { audited: 'true' },
      { resources: { ...resources, names: ['robot'] }, annotations: { 'kymera.io/mode': 'audit' } },
    ),
    labelPolicy('broken-under-fail', 'LimitRange', { x: missing }, { resources }),
    labelPolicy(
      'broken-under-ignore',
      'ResourceQuota',
      { x: missing },
      { resources, spec: { failurePolicy: 'Ignore' } },
    ),
  ];
}

/** Specs for all ways in which kubectl writes, independent of the source of the policies. */
export function mutationSpecs({ kubectl }: Suite): void {
  it('mutates what is created', async () => {
    await kubectl.sendOk('create', configMap('created', { a: '1' }));
    expect((await kubectl.get('configmap', 'created')).metadata.labels).toEqual({
      team: 'unknown',
      managed: 'true',
    });
  });

  it('mutates what is applied, and apply without a change leaves it as it is', async () => {
    const document = configMap('applied', { a: '1' }, { team: 'blue' });
    await kubectl.sendOk('apply', document);
    const first = await kubectl.get('configmap', 'applied');
    expect(first.metadata.labels).toEqual({ team: 'blue', managed: 'true' });
    const again = await kubectl.sendOk('apply', document);
    expect(again.stdout).toBe('configmap/applied unchanged\n');
    const second = await kubectl.get('configmap', 'applied');
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it.each([
    ['strategic', '{"metadata":{"labels":{"managed":"no"}},"data":{"b":"2"}}'],
    ['merge', '{"metadata":{"labels":{"managed":null}},"data":{"b":"2"}}'],
    ['json', '[{"op":"remove","path":"/metadata/labels/managed"},{"op":"add","path":"/data/b","value":"2"}]'],
  ])('mutates what a %s patch makes of it', async (type, patch) => {
    await kubectl.sendOk('create', configMap(`patched-${type}`, { a: '1' }));
    await kubectl.ok('patch', 'configmap', `patched-${type}`, `--type=${type}`, '-p', patch);
    const patched = await kubectl.get('configmap', `patched-${type}`);
    expect(patched.data).toEqual({ a: '1', b: '2' });
    expect(patched.metadata.labels?.['managed']).toBe('true');
  });

  it('mutates what an editor writes', async () => {
    await kubectl.sendOk('create', configMap('edited', { a: '1' }));
    const environment = { KUBE_EDITOR: `sed -i -e 's/managed: .*/managed: "edited"/' -e 's/a: "1"/a: "2"/'` };
    const edited = await kubectl.run(['edit', 'configmap', 'edited'], { environment });
    expect(edited).toMatchObject({ code: 0 });
    const object = await kubectl.get('configmap', 'edited');
    expect(object.data).toEqual({ a: '2' });
    expect(object.metadata.labels?.['managed']).toBe('true');
  });

  it('mutates what is applied on the server, twice, without a conflict', async () => {
    const document = configMap('server-side', { a: '1' });
    await kubectl.sendOk('apply', document, '--server-side');
    await kubectl.sendOk('apply', document, '--server-side');
    const object = await kubectl.get('configmap', 'server-side');
    expect(object.metadata.labels).toEqual({ team: 'unknown', managed: 'true' });
  });

  it.each([
    ['create', []],
    ['apply', []],
    ['apply', ['--server-side']],
  ])('shows the mutation of a dry run and stores nothing: %s %j', async (verb, flags) => {
    const document = configMap('dry-run', { a: '1' });
    const shown = await kubectl.sendOk(verb, document, ...flags, '--dry-run=server', '-o', 'json');
    expect(JSON.parse(shown.stdout).metadata.labels).toEqual({ team: 'unknown', managed: 'true' });
    const stored = await kubectl.run(['get', 'configmap', 'dry-run']);
    expect(stored.stderr).toContain('configmaps "dry-run" not found');
  });

  it('changes nothing that is there by a dry run', async () => {
    await kubectl.sendOk('create', configMap('dry-update', { a: '1' }));
    const before = await kubectl.get('configmap', 'dry-update');
    const patch = '{"metadata":{"labels":{"managed":"no"}}}';
    const shown = await kubectl.ok(
      'patch',
      'configmap',
      'dry-update',
      '-p',
      patch,
      '--dry-run=server',
      '-o',
      'json',
    );
    expect(JSON.parse(shown).metadata.labels.managed).toBe('true');
    expect((await kubectl.get('configmap', 'dry-update')).metadata).toEqual(before.metadata);
  });

  it('lets deletion pass', async () => {
    await kubectl.sendOk('create', configMap('deleted'));
    await kubectl.ok('delete', 'configmap', 'deleted');
  });

  it('reaches the Pod through the Deployment and its ReplicaSet', async () => {
    await kubectl.sendOk('create', deployment('through'));
    const containers = { containers: [expect.objectContaining({ imagePullPolicy: 'IfNotPresent' })] };
    expect((await kubectl.get('deployment', 'through')).spec.template.spec).toMatchObject(containers);
    const [replicaSet] = await waitFor(() => some(kubectl.list('replicaset', '-l', 'app=through')), {
      what: 'a ReplicaSet',
    });
    expect(replicaSet?.spec.template.spec).toMatchObject(containers);
    const [made] = await waitFor(() => some(kubectl.list('pod', '-l', 'app=through')), { what: 'a Pod' });
    expect(made?.spec).toMatchObject(containers);
  });

  it('leaves alone what no policy matches', async () => {
    const containers = (image: string) => [{ name: 'main', image, imagePullPolicy: 'Always' }];
    await kubectl.sendOk('create', [
      pod('tagged', { spec: { containers: containers('a:1') } }),
      pod('latest', { spec: { containers: containers('a:latest') } }),
    ]);
    expect((await kubectl.get('pod', 'tagged')).spec.containers[0].imagePullPolicy).toBe('Always');
    expect((await kubectl.get('pod', 'latest')).spec.containers[0].imagePullPolicy).toBe('IfNotPresent');
  });

  it('shows a warning of a policy with emitWarning', async () => {
    const answer = await kubectl.run(['create', 'secret', 'generic', 'warned', '--from-literal=a=b']);
    expect(answer.code).toBe(0);
    expect(answer.stderr).toMatch(
      /^Warning: policy warn-of-secrets\.warn-of-secrets: mutated Secret\/warned/m,
    );
  });

  it('only tells what a policy in audit mode would change', async () => {
    const answer = await kubectl.run(['create', 'serviceaccount', 'robot', '-o', 'json']);
    expect(answer.stderr).toMatch(
      /^Warning: policy only-audited\.only-audited \(audit\): would change \/metadata\/labels/m,
    );
    expect(JSON.parse(answer.stdout).metadata.labels).toBeUndefined();
  });

  it('denies where a rule under Fail fails, naming policy, rule and path', async () => {
    const document = {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'denied' },
      spec: { limits: [] },
    };
    const answer = await kubectl.send('create', document);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toMatch(
      /denied the request: .*policy broken-under-fail, rule broken-under-fail: .*\(rule \/mutate\/patchStrategicMerge\/metadata\/labels\/x\)/,
    );
  });

  it('warns where a rule under Ignore fails, and lets the object pass unchanged', async () => {
    const document = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'warned' },
      spec: { hard: {} },
    };
    const answer = await kubectl.sendOk('create', document, '-o', 'json');
    expect(answer.stderr).toMatch(/^Warning: policy broken-under-ignore\.broken-under-ignore: /m);
    expect(JSON.parse(answer.stdout).metadata.labels).toBeUndefined();
  });
}

async function some<T>(list: Promise<readonly T[]>): Promise<readonly T[] | undefined> {
  const items = await list;
  return items.length > 0 ? items : undefined;
}
