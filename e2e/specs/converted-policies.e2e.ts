import { expect, it } from 'vitest';
import type { ApiClient } from '../../src/cluster/api/client.ts';
import { connect } from '../../src/cluster/api/connect.ts';
import type { JsonObject } from '../../src/json/value.ts';
import {
  comparable,
  messageOf,
  type Preview,
  prepareCase,
  preview,
  sendObject,
  sendOk,
  widgetDefinition,
} from '../admission-policies/comparison.ts';
import { untilEnforced } from '../admission-policies/enforcement.ts';
import { readConvertedCases } from '../converted-policies/case.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const cases = readConvertedCases();

it('confirms at least thirty converted policies', () => {
  expect(cases.length).toBeGreaterThanOrEqual(30);
});

/** What `kymera apply` makes of an object with the ClusterPolicy is what the API server makes of it with the converted policy. */
suite('converted policies', ({ settings, namespace, before, after }) => {
  let client: ApiClient;
  const previews = new Map<string, Preview>();

  before(async () => {
    ({ client } = await connect({ kubeconfig: settings.kubeconfig }));
    await sendOk(client, widgetDefinition);
    for (const one of cases) {
      await waitFor(() => prepareCase(client, one).then(() => true), { what: `the objects of ${one.id}` });
      previews.set(one.id, await preview(client, { ...one, policies: [one.original] }));
    }
    for (const { policies } of cases) for (const policy of policies) await sendOk(client, policy);
    await untilEnforced(client, namespace);
  });
  after(async () => {
    for (const kind of ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'])
      await client.raw({ method: 'DELETE', path: `/apis/admissionregistration.k8s.io/v1/${kind}` });
    client.close();
  });

  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
    const ours = previews.get(one.id);
    if (ours?.stored === undefined) throw new Error(`kymera printed nothing: ${ours?.messages ?? ''}`);
    const theirs = await sendObject(client, one.object);
    const text = `API server: ${messageOf(theirs)}\nkymera: ${ours.messages}`;
    expect(theirs.status, text).toBeLessThan(300);
    const stored = comparable(theirs.body as JsonObject);
    expect(stored, text).toEqual(comparable(ours.stored.body as JsonObject));
    const untouched = comparable(ours.untouched.body as JsonObject);
    if (one.expect === 'mutated') expect(stored).not.toEqual(untouched);
    else expect(stored).toEqual(untouched);
  });
});
