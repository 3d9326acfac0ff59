import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../cel-documents.ts';

const { compileException } = await loadCelCompilers();
const ref = { name: 'p', kind: 'MutatingPolicy' };
const compile = (spec: JsonObject, labels: JsonObject = {}) =>
  compileException(
    {
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'PolicyException',
      metadata: { name: 'e', namespace: 'team', labels },
      spec: { policyRefs: [ref], ...spec },
    },
    { file: 'e' },
  );

describe('an exception of policies.kyverno.io', () => {
  it.each<[string, JsonObject, string]>([
    ['no policy', { policyRefs: [] }, '/spec/policyRefs'],
    ['an empty name', { policyRefs: [{ ...ref, name: '' }] }, '/spec/policyRefs/0/name'],
    ['an empty kind', { policyRefs: [ref, { ...ref, kind: '' }] }, '/spec/policyRefs/1/kind'],
    ['a date without a time', { expiresAt: '2030-01-31' }, '/spec/expiresAt'],
    ['a date in words', { expiresAt: 'January 31, 2030' }, '/spec/expiresAt'],
    ['a time without a zone', { expiresAt: '2030-01-31T00:00:00' }, '/spec/expiresAt'],
  ])('with %s is refused', (_, spec, pointer) => {
    const { exception, problems } = compile(spec);
    expect(exception).toBeUndefined();
    expect(problems).toMatchObject([{ severity: 'error', pointer }]);
  });

  it.each([
    ['MutatingPolcy', 'Did you mean MutatingPolicy?'],
    ['ClusterPolicy', expect.stringContaining('kyverno.io/v2')],
  ])('for the kind %s has no effect, and says so', (kind, hint) => {
    const { problems } = compile({ policyRefs: [{ ...ref, kind }] });
    expect(problems).toMatchObject([{ severity: 'warning', pointer: '/spec/policyRefs/0/kind', hint }]);
  });

  it('ends at its time', () => {
    const { exception } = compile({ expiresAt: '2030-01-31T02:00:00+02:00' });
    expect(exception?.cel?.expiresAt).toBe(Date.UTC(2030, 0, 31));
  });

  it.each([
    ['7', 7],
    ['-7', -7],
    ['1e3', 0],
    ['', 0],
  ])('with the priority %j has %i', (text, priority) => {
    expect(compile({}, { 'polex.kyverno.io/priority': text }).exception?.cel?.priority).toBe(priority);
  });
});
