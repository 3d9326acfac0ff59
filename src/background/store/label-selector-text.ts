import { readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

/** Formats a label selector for the API server; undefined if it selects everything. */
export function labelSelectorText(selector: JsonObject): string | undefined {
  const labels = Object.entries(readTextMap(selector, 'matchLabels')).map(
    ([key, value]) => `${key}=${value}`,
  );
  const expressions = readObjects(selector, 'matchExpressions').map(expressionText);
  const terms = [...labels, ...expressions];
  return terms.length === 0 ? undefined : terms.join(',');
}

function expressionText(expression: JsonObject): string {
  const key = readText(expression, 'key') ?? '';
  const values = readTexts(expression, 'values').join(',');
  switch (readText(expression, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
