import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Blockage } from '../../admission/blockage.ts';
import { openBlockageStore, type SharedBlockages } from './stuck-rules.ts';

const blockage = (id: string): Blockage => ({
  id,
  policy: 'p',
  rule: 'r',
  fingerprint: 'f',
  namespace: 'shop',
});

/** What the replicas of a cluster share. */
function createShared(): SharedBlockages & { fail: boolean } {
  let known: readonly Blockage[] = [];
  const shared = {
    fail: false,
    known: () => known,
    async add(blockages: readonly Blockage[]) {
      if (shared.fail) throw new Error('forbidden');
      known = [...known, ...blockages];
    },
  };
  return shared;
}

function openReplica(shared: SharedBlockages, onError?: (error: unknown) => void) {
  const store = openBlockageStore(mkdtempSync(join(tmpdir(), 'kymera-blockages-')), shared, onError);
  const block = (id: string) => appendFileSync(store.file, `${JSON.stringify(blockage(id))}\n`);
  return { store, block };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const isStuck = (store: ReturnType<typeof openReplica>['store']) => store.isStuck('f', 'p', 'shop');

describe('blockages', () => {
  it('of one replica make a rule fail in all of them', async () => {
    const shared = createShared();
    const [one, other] = [openReplica(shared), openReplica(shared)];
    one.block('a');
    one.store.refresh();
    await settled();
    other.block('b');
    other.store.refresh();
    expect(isStuck(other.store)).toBe(true);
    await settled();
    one.store.refresh();
    expect(isStuck(one.store)).toBe(true);
    expect(openReplica(shared).store.stuckRules()).toMatchObject([{ policy: 'p', rule: 'r' }]);
  });

  it('that this replica has shared count once', async () => {
    const shared = createShared();
    const { store, block } = openReplica(shared);
    block('a');
    for (let round = 0; round < 3; round += 1) {
      store.refresh();
      await settled();
    }
    expect(shared.known()).toHaveLength(1);
    expect(isStuck(store)).toBe(false);
  });

  it('are shared later if the API server does not answer now', async () => {
    const shared = createShared();
    const errors: unknown[] = [];
    const { store, block } = openReplica(shared, (error) => errors.push(error));
    shared.fail = true;
    block('a');
    store.refresh();
    await settled();
    expect(errors).toHaveLength(1);
    shared.fail = false;
    store.refresh();
    await settled();
    expect(shared.known()).toHaveLength(1);
  });

  it('skip lines that are incomplete', () => {
    const { store, block } = openReplica(createShared());
    appendFileSync(store.file, '{"id": "a", "pol\n');
    block('b');
    store.refresh();
    expect(isStuck(store)).toBe(false);
  });
});
