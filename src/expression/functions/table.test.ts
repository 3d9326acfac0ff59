import { describe, expect, it, test } from 'vitest';
import { compileExpression } from '../expression.ts';
import { type Environment, untilReady } from '../scope.ts';
import { functionTable } from './table.ts';

const environment: Environment = { now: () => new Date('2021-01-02T15:04:05.678Z'), random: () => 0.5 };

/** JMESPath's own, of which Kyverno replaces sum. */
const builtIn =
  'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by starts_with sum to_array to_number to_string type values';
const custom =
  'add base64_decode base64_encode compare divide equal_fold image_normalize is_external_url items label_match lookup md5 modulo multiply object_from_lists parse_json parse_yaml path_canonicalize pattern_match random regex_match regex_replace_all regex_replace_all_literal replace replace_all round semver_compare sha1 sha256 split subtract sum time_add time_after time_before time_between time_diff time_now time_now_utc time_parse time_since time_to_cron time_truncate time_utc to_boolean to_lower to_upper trim trim_prefix truncate x509_decode';

describe('the function table', () => {
  it('holds exactly the functions of JMESPath and Kyverno', () => {
    const names = new Set([...builtIn.split(' '), ...custom.split(' ')]);
    expect([...functionTable.keys()].sort()).toEqual([...names].sort());
  });

  test.each([...functionTable.values()])(
    '$name: its example holds',
    async ({ name, example, description, returns }) => {
      expect(description).toMatch(/^[A-Z].*\.$/);
      expect(returns).not.toBe('');
      expect(example.expression).toContain(`${name}(`);
      const expression = compileExpression(example.expression);
      const result = await untilReady(() => expression.search(example.data ?? {}, environment));
      if (example.result === undefined) expect(result).toBe('2021-01-02T15:04:05Z');
      else expect(result).toEqual(example.result);
    },
  );

  it('marks what depends on more than its arguments', () => {
    const volatile = [...functionTable.values()].filter((entry) => entry.volatile).map((entry) => entry.name);
    expect(volatile.sort()).toEqual(['is_external_url', 'random', 'time_now', 'time_now_utc', 'time_since']);
  });
});
