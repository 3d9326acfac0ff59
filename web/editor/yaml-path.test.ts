import { describe, expect, it } from 'vitest';
import { placeAt } from './yaml-path.ts';

/** `|` is the cursor. */
function place(text: string) {
  const lines = text.split('\n');
  const line = lines.findIndex((candidate) => candidate.includes('|'));
  const column = (lines[line] ?? '').indexOf('|');
  return placeAt(
    lines.map((one) => one.replace('|', '')),
    line,
    column,
  );
}

const policy = (rest: string) => `kind: ClusterPolicy
metadata:
  name: p
spec:
  rules:
  - name: r
    match:
      any:
      - resources:
          kinds: [Pod]
${rest}`;

describe('the place of the cursor', () => {
  it.each([
    ['ki|', [], 'ki', true],
    ['kind: Clu|', ['kind'], 'Clu', false],
    [policy('    mut|'), ['spec', 'rules', '-'], 'mut', true],
    [policy('  - |'), ['spec', 'rules', '-'], '', true],
    [policy('      all:\n      - res|'), ['spec', 'rules', '-', 'match', 'all', '-'], 'res', true],
    [
      policy('      - resources:\n          ki|'),
      ['spec', 'rules', '-', 'match', 'any', '-', 'resources'],
      'ki',
      true,
    ],
    [
      policy(
        '    mutate:\n      patchStrategicMerge:\n        spec:\n          containers:\n          - (na|',
      ),
      ['spec', 'rules', '-', 'mutate', 'patchStrategicMerge', 'spec', 'containers', '-'],
      '(na',
      true,
    ],
    [
      policy(
        '    mutate:\n      patchStrategicMerge:\n        spec:\n          containers:\n            - (name): "*"\n              im|',
      ),
      ['spec', 'rules', '-', 'mutate', 'patchStrategicMerge', 'spec', 'containers', '-'],
      'im',
      true,
    ],
    ['spec:\n  fail|', ['spec'], 'fail', true],
    [`a: 1\n---\nspec:\n  x|`, ['spec'], 'x', true],
  ] as const)('%j', (text, path, word, isKey) => {
    expect(place(text)).toMatchObject({ path, word, isKey });
  });

  it('knows the expression of a template', () => {
    expect(place('a: "{{ request.object.x }}-{{ to_up|').expression).toBe(' to_up');
    expect(place('a: "{{ x }}|').expression).toBeUndefined();
  });
});
