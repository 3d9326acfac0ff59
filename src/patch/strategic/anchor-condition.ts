import { compilePattern } from '../../expression/conditions/pattern.ts';
import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import { parseAnchor } from './anchor.ts';
import type { AnchorTest, RunValues } from './tree.ts';
import type { OverlayBuild } from './tree-build.ts';

/** Turns the value of a condition anchor into a test. All of it is condition: none of it is ever written. */
export function compileCondition(
  value: Json,
  path: Path,
  build: OverlayBuild,
): Pick<AnchorTest, 'holds' | 'expected'> {
  if (!checkAnchors(value, path, build)) return { holds: () => false, expected: () => value };
  const filled = build.fill(value, path);
  if (filled.slot === undefined) {
    const expected = filled.value;
    return { holds: compilePattern(expected), expected: () => expected };
  }
  const { slot } = filled;
  return {
    holds: (actual, values) => patternOf(slot, values)(actual),
    expected: ({ slots }) => slots[slot] ?? null,
  };
}

/** Reports what a condition cannot hold; false when something is wrong. */
function checkAnchors(value: Json, path: Path, build: OverlayBuild): boolean {
  if (!isObject(value) && !isArray(value)) return true;
  if (build.tooDeep(path)) return false;
  if (isArray(value)) {
    return value.map((item, index) => checkAnchors(item, [...path, index], build)).every(Boolean);
  }
  let sound = true;
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const anchor = parseAnchor(key);
    if (anchor?.type === 'add') {
      sound = false;
      build.reporter.error(
        at,
        'KYM_ANCHOR_MISPLACED',
        `${anchor.text} stands inside a condition, and nothing of a condition is written`,
        `Write ${anchor.text} below a plain key beside the condition.`,
      );
    } else if (anchor?.type === 'unsupported') {
      sound = false;
      build.unsupported(anchor, at);
    }
    sound = checkAnchors(inner, at, build) && sound;
  }
  return sound;
}

// Starts with a letter and holds no operator: neither number, range nor wildcard, so only the same text fits it.
const literalText = /^[A-Za-z][^*?|&!\s]*$/;

function patternOf(slot: number, values: RunValues): (value: Json) => boolean {
  const known = values.patterns[slot];
  if (known !== undefined) return known;
  const expected = values.slots[slot] ?? null;
  const pattern =
    typeof expected === 'string' && literalText.test(expected)
      ? (value: Json) => (typeof value === 'boolean' ? String(value) : value) === expected
      : compilePattern(expected);
  values.patterns[slot] = pattern;
  return pattern;
}
