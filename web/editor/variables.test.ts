import { expect, it } from 'vitest';
import { variablesAt } from './variables.ts';

const lines = `spec:
  rules:
  - name: first
    context:
    - name: settings
      configMap: {name: s, namespace: d}
    mutate:
      foreach:
      - list: request.object.spec.containers
        patchStrategicMerge: {}
  - name: second
    mutate: {}`.split('\n');

const own = (line: number) =>
  variablesAt(lines, line)
    .map(({ name }) => name)
    .filter((name) => !/^(request|service|images)/.test(name));

it('lists the context entries and loops of the rule, up to the line', () => {
  expect(own(3)).toEqual([]);
  expect(own(6)).toEqual(['settings']);
  expect(own(9)).toEqual(['settings', 'element', 'elementIndex']);
  expect(own(11)).toEqual([]);
});

it('lists the variables of every request', () => {
  expect(variablesAt([], 0).map(({ name }) => name)).toContain('request.object');
});
