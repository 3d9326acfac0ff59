import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { cut, maxPayloadBytes, oldVersionOf, payloadOf, type TriggerObjects } from './trigger-payload.ts';

const secret: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 's',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '7',
    labels: { a: 'b' },
    annotations: {
      team: 'x',
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"cHc="}}',
    },
    managedFields: [{ manager: 'kubectl' }],
  },
  data: { password: 'cHc=', user: 'dQ==' },
};
const identity = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns', uid: 'u', resourceVersion: '7', labels: { a: 'b' } },
};
const nothing = { object: [], oldObject: [] } as const;
const everything = { object: 'all', oldObject: 'all' } as const;
const request = (
  operation: TriggerObjects['operation'],
  more: Partial<TriggerObjects> = {},
): TriggerObjects => ({
  operation,
  subresource: '',
  object: operation === 'DELETE' ? null : secret,
  oldObject: operation === 'CREATE' ? null : secret,
  ...more,
});

describe('what is kept of a trigger', () => {
  it('is nothing of what can be read again', () => {
    expect(payloadOf(request('CREATE'), everything)).toEqual({});
    expect(payloadOf(request('UPDATE'), { object: 'all', oldObject: [] })).toEqual({});
  });

  it('is the old object of an update where the rule reads it, cut to what it reads', () => {
    const { oldObject } = payloadOf(request('UPDATE'), { object: [], oldObject: [['data', 'user']] });
    expect(oldObject).toEqual({ ...identity, data: { user: 'dQ==' } });
  });

  it('is always what is deleted; of a Secret no value that the rule does not read', () => {
    const { oldObject } = payloadOf(request('DELETE'), nothing);
    expect(oldObject).toEqual(identity);
    const read = payloadOf(request('DELETE'), { object: [['data', 'user']], oldObject: [] });
    expect(read.oldObject?.['data']).toEqual({ user: 'dQ==' });
    expect(JSON.stringify(read)).not.toContain('cHc=');
  });

  it('is the body of a subresource, and of a connection', () => {
    const binding = { object: secret, oldObject: null, subresource: 'binding' };
    expect(payloadOf(request('CREATE', binding), { object: [['data']], oldObject: [] }).object).toEqual({
      ...identity,
      data: secret['data'],
    });
    expect(payloadOf(request('CONNECT', { subresource: 'exec', oldObject: null }), nothing).object).toEqual(
      identity,
    );
  });

  it('never holds the object once more in an annotation, unless the rule reads just that', () => {
    expect(JSON.stringify(cut(secret, [['metadata', 'annotations']]))).not.toContain('password');
    const named = ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'];
    expect(JSON.stringify(cut(secret, [named]))).toContain('password');
    expect(JSON.stringify(cut(secret, 'all'))).not.toContain('last-applied');
  });

  it('keeps lists whole, so that indexes stay', () => {
    const pod = { kind: 'Pod', spec: { containers: [{ name: 'a' }, { name: 'b' }], other: 1 } };
    expect(cut(pod, [['spec', 'containers', 1, 'name']])).toEqual({
      kind: 'Pod',
      spec: { containers: [{ name: 'a' }, { name: 'b' }] },
    });
  });

  it('takes names that prototypes have for what they are', () => {
    const odd = JSON.parse('{"kind":"X","data":{"__proto__":{"a":1},"constructor":"c"}}') as JsonObject;
    expect(JSON.stringify(cut(odd, [['data', '__proto__']]))).toContain('"__proto__":{"a":1}');
    expect(cut(odd, [['data', 'toString']])).toEqual({ kind: 'X', data: {} });
  });

  it('is nothing at all when it is too large, and says how large it was', () => {
    const large = { ...secret, data: { blob: 'x'.repeat(maxPayloadBytes) } };
    const payload = payloadOf(request('DELETE', { oldObject: large }), everything);
    expect(payload.oldObject).toBeUndefined();
    expect(payload.tooLarge).toBeGreaterThan(maxPayloadBytes);
  });
});

describe('the version before an update', () => {
  const changed = { ...secret, data: { user: 'new' } };
  it('is reported where something changes', () => {
    expect(oldVersionOf(request('UPDATE', { object: changed }))).toBe('7');
  });

  it('is of no use where nothing changes, or nothing was there', () => {
    const touched = { ...secret, metadata: { ...(secret['metadata'] as JsonObject), managedFields: [] } };
    expect(oldVersionOf(request('UPDATE', { object: touched }))).toBeUndefined();
    expect(oldVersionOf(request('CREATE'))).toBeUndefined();
  });
});
