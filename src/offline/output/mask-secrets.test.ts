import { describe, expect, it } from 'vitest';
import { createSecretMask, maskPair } from './mask-secrets.ts';

const secret = (data: Readonly<Record<string, string>>) => ({ apiVersion: 'v1', kind: 'Secret', data });

describe('maskPair', () => {
  it('shows which values changed, and no value', () => {
    const before = secret({ same: 'YQ==', changed: 'YQ==', removed: 'YQ==' });
    const after = secret({ same: 'YQ==', changed: 'Yg==', added: 'Yg==' });
    expect(maskPair(before, after)).toEqual([
      secret({ same: '***', changed: '*** (before)', removed: '***' }),
      secret({ same: '***', changed: '*** (after)', added: '***' }),
    ]);
  });

  it('masks the copy in the annotation of kubectl apply', () => {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"YQ=="}}',
      b: 'c',
    };
    const [masked] = maskPair({ ...secret({}), metadata: { annotations } }, undefined);
    expect(JSON.stringify(masked)).not.toContain('YQ==');
    expect(JSON.stringify(masked)).toContain('"b":"c"');
  });

  it('changes nothing else', () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } };
    expect(maskPair(map, undefined)[0]).toBe(map);
  });
});

describe('createSecretMask', () => {
  const mask = createSecretMask([secret({ password: Buffer.from('hunter22').toString('base64') })]);

  it.each([
    ['hunter22', '***'],
    ['user:hunter22@host', '***'],
    ['aHVudGVyMjI=', '***'],
    [
      ['hunter22', 1],
      ['***', 1],
    ],
    [
      { a: 'hunter22', b: 'c' },
      { a: '***', b: 'c' },
    ],
    ['other', 'other'],
  ])('%j is shown as %j', (value, shown) => {
    expect(mask.value(value, 'x')).toEqual(shown);
  });

  it('masks a value whose expression names a secret', () => {
    expect(mask.value('abc', 'dbSecret.data.password')).toBe('***');
  });

  it('masks messages', () => {
    expect(mask.text('"hunter22" is not a number')).toBe('"***" is not a number');
  });
});
