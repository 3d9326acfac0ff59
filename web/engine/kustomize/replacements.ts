import { equal } from '../../../src/json/equal.ts';
import { stringifyJson } from '../../../src/json/json-text.ts';
import { formatPointer } from '../../../src/json/pointer.ts';
import { type Json, type JsonObject, type Path, valueAt } from '../../../src/json/value.ts';
import { idOf, type Resource } from '../../../src/kustomize/resource/resource.ts';
import type { RecordedStage, TracedField, TracedTarget } from '../../../src/kustomize/trace.ts';
import { dotted } from '../../../src/offline/output/tree.ts';
import type { FieldEnd, ShownReplacement } from '../evaluation.ts';
import { fieldAt, fieldName } from './stage-names.ts';

/** A resource in the view, with its lines. */
interface ShownObject {
  readonly resource: Resource;
  readonly object: JsonObject | undefined;
  readonly lines: readonly { readonly after?: number | undefined; readonly pointers: readonly string[] }[];
}

/** The replacements of the stages, with the lines of their ends in the view. */
export function showReplacements(
  stages: readonly RecordedStage[],
  shown: readonly ShownObject[],
): readonly ShownReplacement[] {
  const places = new Map(shown.map((one, index) => [one.resource, { ...one, index }]));
  const endIn = (stage: RecordedStage) => {
    const objects = new Map(stage.resources.map(({ resource, object }) => [resource, object]));
    return ({ resource, path, options }: TracedField & Pick<TracedTarget, 'options'>): FieldEnd => {
      const then = objects.get(resource) ?? {};
      const place = places.get(resource);
      return {
        resource: place?.index ?? -1,
        title: titleOf(place?.object ?? then),
        path: dotted(path),
        options: optionsText(options),
        line: place?.object && isSameField(then, place.object, path) ? lineOf(place, path) : undefined,
      };
    };
  };
  return stages.flatMap((stage) => {
    const end = endIn(stage);
    return stage.replacements.map(({ file, field, source, value, targets }) => ({
      name: fieldName(file, field),
      at: fieldAt({ file, field }),
      value: shortened(value),
      source: source && end(source),
      targets: targets.map(end),
    }));
  });
}

/** A later stage may have changed the field, or moved it. */
function isSameField(then: JsonObject, now: JsonObject, path: Path): boolean {
  const [left, right] = [valueAt(then, path), valueAt(now, path)];
  return left !== undefined && right !== undefined && equal(left, right);
}

/** A field inside a value on one line has the line of the value. */
function lineOf({ lines }: ShownObject, path: Path): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const pointer = formatPointer(path.slice(0, length));
    const line = lines.find((one) => one.after !== undefined && one.pointers.includes(pointer));
    if (line !== undefined) return line.after;
  }
  return undefined;
}

function titleOf(object: JsonObject): string {
  const { kind, name } = idOf(object);
  return `${kind} ${name}`;
}

function optionsText(options: JsonObject | undefined): string {
  return Object.entries(options ?? {})
    .map(([name, value]) => `${name} ${stringifyJson(value as Json)}`)
    .join(', ');
}

const longest = 80;

function shortened(value: Json): string {
  const text = typeof value === 'string' ? value : stringifyJson(value);
  return text.length > longest ? `${text.slice(0, longest)} …` : text;
}
