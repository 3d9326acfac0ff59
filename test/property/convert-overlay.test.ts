import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convertFile } from '../../src/cli/convert/file.ts';
import { overlayObstacle } from '../../src/cli/convert/overlay.ts';
import { loadPolicies, mutate } from '../../src/index.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';

const name = fc.constantFrom('a', 'b', 'web-1');
const image = fc.constantFrom('x:latest', 'x:1', 'y:latest');
const flag = fc.option(fc.boolean(), { nil: undefined });
const defined = (object: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );

const item = fc
  .record({
    name,
    image,
    tty: flag,
    env: fc.option(
      fc.uniqueArray(fc.record({ name, value: fc.constant('1') }), { selector: (e) => e.name }),
      {
        nil: undefined,
      },
    ),
  })
  .map(defined);
const items = fc.option(fc.uniqueArray(item, { selector: (value) => value['name'], maxLength: 3 }), {
  nil: undefined,
});
const pods = fc
  .record({
    hostPID: flag,
    dns: fc.option(fc.record({ policy: name }), { nil: undefined }),
    containers: items,
    initContainers: items,
  })
  .map(
    (spec): JsonObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: defined(spec) }),
  );

const pattern = fc.constantFrom('*', 'a', 'web*', '*:latest', 'x:?');
const innerItem = fc
  .record({
    '(name)': fc.option(pattern, { nil: undefined }),
    value: fc.option(fc.constant('2'), { nil: undefined }),
  })
  .map(defined);
const overlayItem = fc
  .record({
    '(name)': fc.option(pattern, { nil: undefined }),
    '(image)': fc.option(pattern, { nil: undefined }),
    name: fc.option(name, { nil: undefined, freq: 8 }),
    tty: flag,
    resources: fc.option(fc.constantFrom<Json[]>({}, { limits: { cpu: '1' } }, { limits: null }), {
      nil: undefined,
    }),
    env: fc.option(fc.array(innerItem, { maxLength: 2 }), { nil: undefined }),
  })
  .map(defined);
const overlayItems = fc.option(fc.array(overlayItem, { minLength: 1, maxLength: 2 }), { nil: undefined });
const overlays = fc
  .record({
    '(hostPID)': fc.option(fc.boolean(), { nil: undefined }),
    hostIPC: flag,
    dns: fc.option(
      fc.constantFrom<Json[]>({}, null, { policy: 'c' }, { '(policy)': 'web*', more: { deep: 1 } }),
      {
        nil: undefined,
      },
    ),
    containers: overlayItems,
    initContainers: overlayItems,
  })
  .map((spec): JsonObject => ({ spec: defined(spec) }));

const policyWith = (overlay: JsonObject) =>
  JSON.stringify({
    apiVersion: 'kyverno.io/v1alpha1',
    kind: 'Policy',
    metadata: { name: 'p' },
    spec: { rules: [{ name: 'r', resource: { kind: 'Pod' }, mutate: { overlay } }] },
  });

async function resultOf(text: string, object: JsonObject): Promise<unknown> {
  const set = loadPolicies({ file: 'p', text });
  const result = await mutate(object, set);
  return { object: result.object, failed: result.failedPolicies.length };
}

test('an overlay that is converted gives the same objects as before', async () => {
  let converted = 0;
  await fc.assert(
    fc.asyncProperty(overlays, pods, async (overlay, object) => {
      fc.pre(overlayObstacle(overlay) === undefined);
      const text = policyWith(overlay);
      const { text: after, problems } = convertFile('p.json', text);
      expect(problems).toEqual([]);
      converted++;
      expect(await resultOf(after, object)).toEqual(await resultOf(text, object));
    }),
    { numRuns: 120 },
  );
  expect(converted).toBeGreaterThan(50);
});
