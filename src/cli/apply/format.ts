import { kindOf } from '../../admission/resource-request.ts';
import { diff } from '../../json/diff/diff.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Evaluated } from '../../offline/evaluator.ts';
import { nameOf, namespaceOf, titleOf, withoutDefaultNamespace } from '../../offline/object-identity.ts';
import { writeYaml } from '../../yaml/writer.ts';
import type { Resource } from '../input/resource-reader.ts';
import type { Paint } from '../output/style.ts';
import { unifiedDiff } from '../output/unified-diff.ts';
import { editYaml } from '../output/yaml-edit.ts';
import type { ApplyFormat } from './formats.ts';
import { tableFormatter } from './table.ts';

/** Turns results into text, one after another. */
export interface ApplyFormatter {
  /** `evaluated` is absent for an object that policies are not asked about. */
  object(resource: Resource, evaluated: Evaluated | undefined): string;
  end(): string;
}

/** `columns`: the width of the terminal that a table is for. */
export function createFormatter(
  format: ApplyFormat,
  paint: Paint,
  columns: number | undefined,
): ApplyFormatter {
  switch (format) {
    case 'diff':
      return { object: (resource, evaluated) => diffOf(resource, evaluated, paint), end: () => '' };
    case 'yaml':
      return yamlStream((resource, evaluated) => textOf(resource, evaluated));
    case 'json':
      return jsonList();
    case 'patch':
      return yamlStream((resource, evaluated) => patchOf(resource, evaluated));
    case 'table':
      return tableFormatter(paint, columns);
  }
}

/** The object to print: as policies left it, without the namespace that was only filled in. */
export function resultOf(resource: Resource, evaluated: Evaluated | undefined): JsonObject {
  if (evaluated === undefined || evaluated.after === evaluated.before) return resource.object;
  return withoutDefaultNamespace(evaluated.after, resource.object);
}

function diffOf(resource: Resource, evaluated: Evaluated | undefined, paint: Paint): string {
  const result = resultOf(resource, evaluated);
  if (result === resource.object) return '';
  const title = titleOf(resource.object);
  return unifiedDiff(
    { before: title, after: `${title} (mutated)` },
    writeYaml(resource.object),
    writeYaml(result),
    paint,
  );
}

/** What did not change is printed as it was written, comments and all. */
export function textOf(resource: Resource, evaluated: Evaluated | undefined): string {
  const result = resultOf(resource, evaluated);
  const { object, text } = resource;
  if (text === undefined) return writeYaml(result);
  if (result !== object) return text.includes('#') ? editYaml(text, object, result) : writeYaml(result);
  return text.endsWith('\n') ? text : `${text}\n`;
}

function patchOf(resource: Resource, evaluated: Evaluated | undefined): string {
  if (evaluated === undefined || evaluated.after === evaluated.before) return '';
  const { object } = resource;
  const { group, version, kind } = kindOf(object);
  const namespace = namespaceOf(object);
  return writeYaml({
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    name: nameOf(object),
    ...(namespace === '' ? {} : { namespace }),
    patch: diff(evaluated.before, evaluated.after).map((operation) => ({ ...operation })),
  });
}

function yamlStream(print: (resource: Resource, evaluated: Evaluated | undefined) => string): ApplyFormatter {
  let isFirst = true;
  return {
    object: (resource, evaluated) => {
      const text = print(resource, evaluated);
      if (text === '') return '';
      const separator = isFirst ? '' : '---\n';
      isFirst = false;
      return separator + text;
    },
    end: () => '',
  };
}

/** One `List`, as `kubectl get -o json` prints. */
function jsonList(): ApplyFormatter {
  let isFirst = true;
  return {
    object: (resource, evaluated) => {
      const start = isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [\n' : ',\n';
      isFirst = false;
      return `${start}    ${JSON.stringify(resultOf(resource, evaluated), null, 2).replaceAll('\n', '\n    ')}`;
    },
    end: () => (isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n' : '\n  ]\n}\n'),
  };
}
