import { hasVariable } from '../../expression/template/tokens.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import { read, readBoolean, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isArray, type JsonObject, type Path } from '../../json/value.ts';
import { FieldPathError, parseStep, splitFieldPath } from '../../patch/field-path/field-path.ts';
import { wildcardText } from '../../patch/replacement/text-matcher.ts';
import type { WrittenKind } from './kinds.ts';
import { anyStep, constantOf, keyStep, type Write, type WriteStep, writeOf } from './write-step.ts';

/** The writes of one entry of `replacements` in objects of a kind. */
export function replacementWrites(entry: JsonObject, source: Path, kind: WrittenKind): readonly Write[] {
  const literal = read(entry, 'sourceValue');
  const value = literal === undefined ? undefined : constantOf(literal);
  return readObjects(entry, 'targets').flatMap((target, index) => {
    if (!couldSelect(target, kind)) return [];
    const options = readObject(target, 'options') ?? {};
    // With a delimiter, only a part of the string is replaced.
    const written = readText(options, 'delimiter') === undefined ? value : undefined;
    const paths = readTexts(target, 'fieldPaths');
    return (paths.length === 0 ? ['metadata.name'] : paths).flatMap((text, position) => {
      const at = [...source, 'targets', index, 'fieldPaths', position];
      return pathWrites(text, at, readBoolean(options, 'create') === true, written);
    });
  });
}

function couldSelect(target: JsonObject, kind: WrittenKind): boolean {
  const written = read(target, 'select');
  const select = isArray(written) ? readObjects(target, 'select')[0] : readObject(target, 'select');
  return (['group', 'version', 'kind'] as const).every((field) => {
    const pattern = readText(select ?? {}, field) ?? '';
    if (pattern === '' || hasVariable(pattern)) return true;
    return compileWildcard(pattern).matches(kind[field]) || compileWildcard(kind[field]).matches(pattern);
  });
}

function pathWrites(
  text: string,
  source: Path,
  create: boolean,
  value: ReturnType<typeof constantOf>,
): readonly Write[] {
  const steps = readSteps(text);
  if (steps === undefined) return [];
  const place = steps.slice(0, depthOfText(steps));
  const write = writeOf(place, 'set', source, place.length === steps.length ? value : undefined);
  const items = create ? steps.flatMap((step, at) => (step.type === 'item' ? [at] : [])) : [];
  return [...items.map((at) => writeOf(steps.slice(0, at + 1), 'item', source)), write];
}

function readSteps(text: string): readonly WriteStep[] | undefined {
  try {
    return splitOutsideVariables(text).map(toStep);
  } catch (error) {
    if (error instanceof FieldPathError) return undefined;
    throw error;
  }
}

/** Dots inside variables must not split the path. */
function splitOutsideVariables(text: string): readonly string[] {
  const hidden = text.replace(/\{\{.*?\}\}/gs, '{{}}');
  return splitFieldPath(hidden);
}

function toStep(part: string): WriteStep {
  if (part.includes('{{')) return anyStep;
  const step = parseStep(part, { compare: wildcardText, lastItem: true });
  switch (step.type) {
    case 'field':
      return keyStep(step.name);
    case 'index':
      return keyStep(String(step.index));
    case 'match':
      if (!step.literal) return anyStep;
      return { type: 'item', where: step.key === '' ? step.text : { [step.key]: step.text } };
    default:
      return anyStep;
  }
}

/** A path can continue inside a JSON or YAML string: the write then covers the string. */
function depthOfText(steps: readonly WriteStep[]): number {
  const names = steps.map((step) => (step.type === 'key' ? step.name : ''));
  if (['data', 'stringData', 'binaryData'].includes(names[0] ?? '')) return 2;
  return names[0] === 'metadata' && ['annotations', 'labels'].includes(names[1] ?? '') ? 3 : steps.length;
}
