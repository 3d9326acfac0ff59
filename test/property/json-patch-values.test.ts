import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../src/expression/scope.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';
import { compileJsonPatch } from '../../src/patch/json-patch/json-patch.ts';
import type { Reporter } from '../../src/problem.ts';

// What a variable yields is data: it never becomes YAML structure, another operation or another variable.

const reporter: Reporter = { error: (_path, _code, message) => expect.fail(message), warn: () => {} };

function apply(source: string, x: Json): JsonObject {
  const scope: Scope = {
    lookup: (name) => (name === 'x' ? x : undefined),
    snapshot: () => ({ x }),
    environment: { now: () => new Date(0), random: () => 0 },
  };
  const result = compileJsonPatch(source, [], reporter)?.apply({ kept: 1 }, scope);
  return result?.status === 'patched' ? result.object : expect.fail('not patched');
}

const hostile = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom(
      '"',
      "'",
      '\\',
      '\n',
      ' ',
      '{',
      '}',
      '[',
      ']',
      ':',
      '-',
      '#',
      '&',
      '*',
      '$',
      '(',
      'x',
      '0',
    ),
  }),
  fc.constantFrom(
    '{{ x }}',
    '"\n- {op: remove, path: /kept}\n- "',
    '$(x)',
    '\\{{ x }}',
    'kymeraVariable0kymeraVariable',
    '&a',
    '*a',
  ),
);

describe('values of variables in a JSON patch', () => {
  it('in quotes, are the text itself', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom('"{{ x }}"', "'{{ x }}'"), (x, written) => {
        expect(apply(`- {op: add, path: /v, value: ${written}}`, x)).toEqual({ kept: 1, v: x });
        expect(apply(`[{"op": "add", "path": "/v", "value": {"a": ${written}}}]`, x)).toEqual({
          kept: 1,
          v: { a: x },
        });
      }),
    );
  });

  it('in a text, are spliced as they are', () => {
    fc.assert(
      fc.property(hostile, (x) => {
        expect(apply('- op: add\n  path: /v\n  value: "<{{ x }}|{{ x }}>"', x)).toEqual({
          kept: 1,
          v: `<${x}|${x}>`,
        });
        expect(apply('- op: add\n  path: /v\n  value: |-\n    <{{ x }}>', x)).toEqual({
          kept: 1,
          v: `<${x}>`,
        });
      }),
    );
  });

  it('without quotes, are one value: the text itself or what YAML or JSON reads in it', () => {
    fc.assert(
      fc.property(hostile, (x) => {
        const { v, ...rest } = apply('- op: add\n  path: /v\n  value: {{ x }}\n', x);
        expect(rest).toEqual({ kept: 1 });
        if (typeof v === 'string') expect([x, x.trim()]).toContain(v);
      }),
    );
  });

  it('as a key, are that key', () => {
    fc.assert(
      fc.property(hostile, (x) => {
        const { v } = apply('- op: add\n  path: /v\n  value: {"{{ x }}": 1}', x);
        expect(Object.entries(v as JsonObject)).toEqual([[x, 1]]);
      }),
    );
  });
});
