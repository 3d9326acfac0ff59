import { describe, expect, it, test } from 'vitest';
import { policyWith } from '../policy.testing.ts';
import { triggerReads } from './trigger-reads.ts';

const target = '{apiVersion: v1, kind: Secret}';
const patch = (value: string) => `patchStrategicMerge: {metadata: {labels: {a: "${value}"}}}`;
const mutate = (value: string, more = '') => `mutate: {targets: [${target}], ${patch(value)}${more}}`;

function readsOf(rule: string) {
  const policy = policyWith(rule, '{background: false}');
  const [found] = [...policy.rules, ...policy.generateRules];
  if (found === undefined) throw new Error('no rule');
  const { object, oldObject, user } = triggerReads(found);
  const join = (paths: typeof object) => (paths === 'all' ? paths : paths.map((path) => path.join('.')));
  return { object: join(object), oldObject: join(oldObject), user };
}

describe('what a rule reads of its trigger', () => {
  test.each([
    ['nothing', mutate('x'), [], [], false],
    ['one path', mutate('{{ request.object.data.k }}'), ['data.k'], [], false],
    [
      'paths below others',
      `context: [{name: c, variable: {jmesPath: request.object.data}}], ${mutate('{{ request.object.data.k }}-{{ c.z }}')}`,
      ['data'],
      [],
      false,
    ],
    ['the old object', mutate('{{ request.oldObject.data.k }}'), [], ['data.k'], false],
    ['everything', mutate('{{ to_string(request.object) }}'), 'all', [], false],
    ['the request', mutate('{{ to_string(request) }}'), 'all', 'all', false],
    ['images', mutate('{{ images.containers.a.tag }}'), ['spec'], [], false],
    ['the user', mutate('{{ request.userInfo.username }}'), [], [], true],
    ['the target only', mutate('{{ target.data.k }}-{{@}}'), [], [], false],
    [
      'annotations, to match',
      `match: {any: [{resources: {kinds: [ConfigMap], annotations: {a: b}}}]}, ${mutate('x')}`,
      ['metadata.annotations'],
      [],
      false,
    ],
    [
      'a target selector',
      'mutate: {targets: [{apiVersion: v1, kind: Secret, namespace: "{{ request.object.data.ns }}"}], patchStrategicMerge: {metadata: {labels: {a: b}}}}',
      ['data.ns'],
      [],
      false,
    ],
    [
      'a loop',
      `generate: {foreach: [{list: "split(request.object.data.names, ',')", apiVersion: v1, kind: Secret, name: "{{ element }}", namespace: ns, data: {data: {}}}]}`,
      ['data.names'],
      [],
      false,
    ],
    [
      'a name that is put together',
      mutate('{{ request.object.data.\\"{{ request.name }}\\" }}'),
      'all',
      'all',
      false,
    ],
  ])('%s', (_, rule, object, oldObject, user) => {
    expect(readsOf(rule)).toEqual({ object, oldObject, user });
  });

  it('is found out once', () => {
    const [rule] = policyWith(mutate('x')).rules;
    if (rule === undefined) throw new Error('no rule');
    expect(triggerReads(rule)).toBe(triggerReads(rule));
  });
});
