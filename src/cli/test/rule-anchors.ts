import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor.ts';

/** An anchor as it is written in a rule. */
export interface WrittenAnchor {
  /** `(image)` */
  readonly anchor: string;
  /** Where in the object it looks: `spec.containers[].image`. */
  readonly place: string;
}

/** The anchors in the strategic merges of a rule, in the order written. What stands inside a condition is part of it. */
export function anchorsOf(rule: JsonObject): readonly WrittenAnchor[] {
  const found: WrittenAnchor[] = [];
  collectMerges(rule['mutate'] ?? null, (overlay) => collectAnchors(overlay, '', found));
  return found;
}

/** The place of an anchor that was tried, written as `anchorsOf` writes it. */
export function placeOf(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

function collectMerges(value: Json, use: (overlay: Json) => void): void {
  if (isArray(value)) for (const item of value) collectMerges(item, use);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'patchStrategicMerge') use(inner);
    else if (key === 'foreach') collectMerges(inner, use);
  }
}

function collectAnchors(value: Json, place: string, found: WrittenAnchor[]): void {
  if (isArray(value)) for (const item of value) collectAnchors(item, `${place}[]`, found);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const anchor = parseAnchor(key);
    const at = `${place}${place === '' ? '' : '.'}${anchor?.key ?? key}`;
    // What a key with variables in it becomes is not known here.
    if (anchor !== undefined && !at.includes('{{')) found.push({ anchor: anchor.text, place: at });
    if (anchor === undefined || anchor.type === 'add') collectAnchors(inner, at, found);
  }
}
