import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { gitopsHints } from '../../src/cli/gitops/hints.ts';
import { matchesWildcard } from '../../src/expression/wildcard.ts';
import { stringifyJson } from '../../src/json/json-text.ts';
import { parsePointer } from '../../src/json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import type { CompiledPolicy } from '../../src/policy/compiled.ts';
import { noCorpus } from '../needs.testing.ts';
import { appliedRules, ownSamples, type Sample, upstreamSamples } from './policy-samples.ts';

interface Comparison {
  readonly name: string;
  readonly expressions: readonly string[];
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Those that still differ without the ignored places, as Argo CD compares: what is empty then counts as absent. */
function stillDiffering(comparisons: readonly Comparison[]): readonly Comparison[] {
  const branches = comparisons.map(
    ({ expressions }, index) =>
      `if .[0] == ${index} then .[1:] | map(delpaths([${expressions.map((text) => `path(${text})`).join(', ')}])) else `,
  );
  const program = `${branches.join('')} . ${'end '.repeat(branches.length)}`;
  const input = comparisons
    .map(({ before, after }, index) => stringifyJson([index, before, after]))
    .join('\n');
  const { status, stdout, stderr } = spawnSync('jq', ['-c', program], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`jq ${program}: ${stderr}`);
  const lines = stdout.trim().split('\n');
  return comparisons.filter((_, index) => {
    const [before = null, after = null] = JSON.parse(lines[index] ?? '[]') as Json[];
    return JSON.stringify(sorted(prune(before) ?? {})) !== JSON.stringify(sorted(prune(after) ?? {}));
  });
}

function prune(value: Json): Json | undefined {
  if (isArray(value)) {
    const items = value.flatMap((item) => prune(item) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value ?? undefined;
  const members = Object.entries(value).flatMap(([key, inner]) => {
    const pruned = prune(inner);
    return pruned === undefined ? [] : [[key, pruned] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** A pointer as Argo CD reads it: a number is an index where there is a list. */
function pointerAsJq(text: string): string {
  const steps = parsePointer(text).map((token) =>
    /^\d+$/.test(token) ? `(.[${token}]?, .[${JSON.stringify(token)}]?)` : `.[${JSON.stringify(token)}]?`,
  );
  return steps.join(' | ');
}

function expressionsFor(
  rule: CompiledPolicy['rules'][number],
  object: JsonObject,
): readonly string[] | undefined {
  const only = { key: 'p', rules: [rule] } as unknown as CompiledPolicy;
  const group = String(object['apiVersion']).includes('/') ? String(object['apiVersion']).split('/')[0] : '';
  const fitting = gitopsHints([only]).filter(
    (hint) => matchesWildcard(hint.group, group ?? '') && matchesWildcard(hint.kind, String(object['kind'])),
  );
  if (fitting.some(({ anywhere }) => anywhere.length > 0)) return undefined;
  return fitting.flatMap(({ paths }) =>
    paths.map(({ path }) => (path.type === 'jq' ? path.text : pointerAsJq(path.text))),
  );
}

/** A version that Kubernetes never had: lists of such objects have no merge keys. */
const unknownVersion = 'psm-unknown-version-list-replaced';

async function differencesLeft(samples: readonly Sample[]): Promise<{ checked: number; left: string[] }> {
  const comparisons: Comparison[] = [];
  for (const sample of samples) {
    if (sample.surroundings.subresource !== undefined || sample.name === unknownVersion) continue;
    for (const object of sample.objects) {
      for (const { rule, before, after } of await appliedRules(sample, object)) {
        const expressions = expressionsFor(rule, before);
        const name = `${sample.name} ${rule.name}: ${expressions?.join(' ; ')}`;
        if (expressions !== undefined) comparisons.push({ name, expressions, before, after });
      }
    }
  }
  const left: string[] = [];
  for (let at = 0; at < comparisons.length; at += 40) {
    left.push(...stillDiffering(comparisons.slice(at, at + 40)).map(({ name }) => name));
  }
  return { checked: comparisons.length, left };
}

function sorted(value: Json): Json {
  if (isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}

const hasJq = spawnSync('jq', ['--version']).status === 0;

describe('with what the hints name left out, nothing that a rule wrote is seen', () => {
  it('in the cases of Kyverno', async ({ skip }) => {
    const samples = upstreamSamples();
    if (!hasJq) return skip('jq is not installed');
    if (samples === undefined) return skip(noCorpus);
    const { checked, left } = await differencesLeft(samples);
    expect(left).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  it('in our own cases', async ({ skip }) => {
    if (!hasJq) return skip('jq is not installed');
    const { checked, left } = await differencesLeft(ownSamples());
    expect(left).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });
});
