import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../src/expression/scope.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { compileStrategicMerge } from '../../src/patch/strategic/compile.ts';

const scope: Scope = {
  lookup: () => undefined,
  snapshot: () => ({}),
  environment: { now: () => new Date(0), random: () => 0 },
};

const name = fc.constantFrom('a', 'b', 'c', 'd', '__proto__');
const text = fc.constantFrom('x', 'y', 'z', '1', '');
const scalar: fc.Arbitrary<Json> = fc.oneof(text, fc.integer({ min: 0, max: 3 }), fc.boolean());

const labels = fc.dictionary(name, text, { noNullPrototype: true });
const env = fc.uniqueArray(fc.record({ name, value: text }), { selector: (item) => item.name, maxLength: 4 });
const container = fc.record(
  {
    name,
    image: text,
    tty: fc.boolean(),
    env,
    args: fc.array(text, { maxLength: 3 }),
    securityContext: fc.record(
      { runAsUser: fc.integer({ min: 0, max: 2 }), privileged: fc.boolean() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['name'] },
);
const containers = fc.uniqueArray(container, { selector: (item) => item.name, maxLength: 4 });
const pod = fc
  .record({
    metadata: fc.record({ labels, finalizers: fc.uniqueArray(text, { maxLength: 3 }) }, { requiredKeys: [] }),
    spec: fc.record(
      { containers, nodeName: text, tolerations: fc.array(fc.record({ key: text }), { maxLength: 2 }) },
      { requiredKeys: [] },
    ),
  })
  .map((rest) => freeze({ apiVersion: 'v1', kind: 'Pod', ...rest } as JsonObject));

/** Anchors stand on keys that the overlay does not write, so that what it writes cannot turn them round. */
const anchored = fc
  .record({
    pattern: fc.constantFrom('*', 'a', 'b*', '?'),
    tty: fc.boolean(),
    user: fc.integer({ min: 0, max: 2 }),
    add: scalar,
  })
  .map(({ pattern, tty, user, add }) => ({
    '(name)': pattern,
    tty,
    securityContext: { '+(runAsUser)': user },
    '+(stdin)': add,
    env: [{ '(name)': 'a', value: 'w' }],
  }));
const overlay = fc
  .record(
    {
      metadata: fc.record({ labels, finalizers: fc.array(text, { maxLength: 3 }) }, { requiredKeys: [] }),
      spec: fc.record(
        {
          containers: fc.array(fc.oneof(container, anchored), { maxLength: 4 }),
          nodeName: fc.option(text),
          tolerations: fc.array(fc.record({ key: text }), { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  .map((value) => value as unknown as JsonObject);

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}

function apply(patch: JsonObject, object: JsonObject): JsonObject {
  const fail = (...problem: unknown[]): never => {
    throw new Error(JSON.stringify(problem));
  };
  const compiled = compileStrategicMerge(patch, [], { error: fail, warn: fail });
  const result = compiled?.apply(object, scope);
  return result?.status === 'patched' ? result.object : object;
}

const namesOf = (object: JsonObject): Json[] => {
  const spec = object['spec'];
  const list = isObject(spec) ? spec['containers'] : undefined;
  return isArray(list) ? list.map((item) => (isObject(item) ? (item['name'] ?? null) : null)) : [];
};

/** Every equal subtree at the same place is the very same value. */
function expectShared(before: Json, after: Json): void {
  if (before === after || typeof before !== 'object' || before === null) return;
  if (isObject(before) && isObject(after)) {
    for (const [key, value] of Object.entries(before)) {
      if (Object.hasOwn(after, key)) expectShared(value, after[key] as Json);
    }
    expect(after, 'an unchanged map is shared').not.toEqual(before);
  }
  if (isArray(before) && isArray(after)) expect(after, 'an unchanged list is shared').not.toEqual(before);
}

describe('laws of the strategic merge', () => {
  it('applied twice, it changes nothing the second time', () => {
    fc.assert(
      fc.property(overlay, pod, (patch, object) => {
        const once = apply(patch, object);
        // Items added by the first run are there to be matched by the anchors of the second.
        const settled = apply(patch, once);
        expect(apply(patch, settled)).toBe(settled);
      }),
    );
  });

  it('shares what it does not touch, and never writes to its input', () => {
    fc.assert(fc.property(overlay, pod, (patch, object) => expectShared(object, apply(patch, object))));
  });

  it('keeps the order of the items that were there, behind the new ones', () => {
    fc.assert(
      fc.property(overlay, pod, (patch, object) => {
        const before = namesOf(object);
        const after = namesOf(apply(patch, object));
        expect(after.slice(after.length - before.length)).toEqual(before);
      }),
    );
  });

  it('gives what it is given as constants when it is given variables', () => {
    fc.assert(
      fc.property(labels, pod, (value, object) => {
        const compiled = compileStrategicMerge({ metadata: { labels: '{{ value }}' } }, [], {
          error: (...problem) => expect.fail(JSON.stringify(problem)),
          warn: () => {},
        });
        const result = compiled?.apply(object, { ...scope, lookup: () => value });
        expect(result?.status === 'patched' && result.object).toEqual(
          apply({ metadata: { labels: value } }, object),
        );
      }),
    );
  });
});
