import { expect, it } from 'vitest';
import type { ApiClient } from '../../src/cluster/api/client.ts';
import { connect } from '../../src/cluster/api/connect.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { readAdmissionCases } from '../admission-policies/case.ts';
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
import { deletePolicies, keepParamsWatched, untilEnforced } from '../admission-policies/enforcement.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const topics = readAdmissionCases();

it('compares at least three hundred cases', () => {
  const ids = topics.flatMap(({ cases }) => cases.map(({ id }) => id));
  expect(ids.length).toBeGreaterThanOrEqual(300);
  expect(new Set(ids).size).toBe(ids.length);
});

/** The policies, parameters and objects of the cases go through the API server and through `kymera apply`. */
for (const { topic, cases } of topics)
  suite(`admission policies ${topic}`, ({ settings, namespace, before, after }) => {
    let client: ApiClient;
    const previews = new Map<string, Preview>();
    /** Why the API server does not accept a policy, by case. */
    const refusals = new Map<string, string>();

    before(async () => {
      ({ client } = await connect({ kubeconfig: settings.kubeconfig }));
      await sendOk(client, widgetDefinition);
      await keepParamsWatched(client);
      await inTurn(cases, (one) =>
        waitFor(() => prepareCase(client, one).then(() => true), { what: `the objects of ${one.id}` }),
      );
    });
    before(() => inTurn(cases, async (one) => void previews.set(one.id, await preview(client, one))));
    before(async () => {
      for (const one of cases) {
        for (const document of one.policies) {
          const answer = await sendObject(client, document);
          if (answer.status !== 201) refusals.set(one.id, messageOf(answer));
        }
      }
      await untilEnforced(client, namespace);
    });
    after(async () => {
      await deletePolicies(client, { all: topic === topics.at(-1)?.topic });
      client.close();
    });

    it.each(cases.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
      const ours = previews.get(one.id);
      if (ours === undefined) throw new Error('kymera did not run');
      const refusal = refusals.get(one.id);
      if (one.expect === 'refused') {
        expect(refusal).toBeDefined();
        expect(ours, ours.messages).toMatchObject({ code: 2, stored: undefined });
        return;
      }
      expect(refusal).toBeUndefined();
      expect(messageOf(ours.untouched)).toMatch(/^20[01] /);
      const update = one.old !== undefined;
      const theirs = await sendObject(client, one.object, {
        update,
        user: one.user,
        subresource: one.subresource,
      });
      const text = `API server: ${messageOf(theirs)}\nkymera: ${ours.messages}`;
      if (one.expect === 'denied') {
        expect(theirs.status, text).toBeGreaterThanOrEqual(400);
        // Kymera finds the error itself, or prints an object that the API server does not accept.
        expect(ours.code === 1 || (ours.stored?.status ?? 0) >= 400, text).toBe(true);
        return;
      }
      expect(theirs.status, text).toBeLessThan(300);
      expect(ours.code, text).toBe(one.expect === 'ignored' ? 1 : 0);
      const stored = comparable(theirs.body as JsonObject);
      const untouched = comparable(ours.untouched.body as JsonObject);
      expect(
        ours.stored?.status,
        `${text}\n${ours.stored === undefined ? '' : messageOf(ours.stored)}`,
      ).toBeLessThan(300);
      expect(comparable(ours.stored?.body as JsonObject)).toEqual(stored);
      if (one.expect === 'mutated') expect(stored).not.toEqual(untouched);
      if (one.expect === 'unchanged') expect(stored).toEqual(untouched);
    });
  });

/** Four at once: more only wait for the processor. */
async function inTurn<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}
