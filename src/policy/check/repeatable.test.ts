import { expect, test } from 'vitest';
import { check, policy } from '../policy.testing.ts';

const targets = 'targets: [{apiVersion: v1, kind: Secret}]\n      ';
const label = (text: string) => `patchStrategicMerge: {metadata: {labels: {a: "${text}"}}}`;
const warning = ['warning KYM_NOT_RECONCILED /spec/rules/0/mutate'];
const context = (text: string) =>
  `context: [{name: c, variable: {jmesPath: "${text}"}}, {name: d, variable: {value: "{{ c }}"}}]`;

test.each<[string, Parameters<typeof policy>[0], string[]]>([
  ['random in the patch', { mutate: `${targets}${label("{{ random('[a-z]{4}') }}")}` }, warning],
  [
    'the time in a JSON patch',
    {
      mutate: `${targets}patchesJson6902: "- {op: add, path: /data/a, value: '{{ time_now_utc() }}'}"`,
    },
    warning,
  ],
  [
    'the time, by way of the context',
    { rule: context('time_now()'), mutate: `${targets}${label('{{ d }}')}` },
    warning,
  ],
  [
    'in context that the patch does not read',
    { rule: context('time_now()'), mutate: `${targets}${label('x')}` },
    [],
  ],
  [
    'in a precondition',
    {
      rule: 'preconditions: {all: [{key: "{{ time_now() }}", operator: NotEquals, value: a}]}',
      mutate: `${targets}${label('x')}`,
    },
    [],
  ],
  ['in a rule for the incoming object', { mutate: label("{{ random('[a-z]{4}') }}") }, []],
])('%s', (_, parts, problems) => {
  expect(check(policy(parts))).toEqual(problems);
});
