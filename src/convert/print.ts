import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { writeYaml } from '../yaml/writer.ts';

/** Comments by the item of a list in `spec` that they stand before. */
export type Comments = ReadonlyMap<Json, readonly string[]>;

/** Prints a policy as YAML. `head` comes before the document. */
export function printPolicy(document: JsonObject, comments: Comments, head: readonly string[]): string {
  const { spec, ...rest } = document;
  const fields = isObject(spec) ? Object.entries(spec) : [];
  return [
    ...head.map(commentLine),
    writeYaml(rest),
    'spec:\n',
    ...fields.map(([key, value]) => indent(printField(key, value, comments), '  ')),
  ].join('');
}

function printField(key: string, value: Json, comments: Comments): string {
  if (!isArray(value) || !value.some((item) => comments.has(item))) return writeYaml({ [key]: value });
  const items = value.map(
    (item) =>
      `${(comments.get(item) ?? []).map(commentLine).join('')}${unquoteExpressions(writeYaml([item]))}`,
  );
  return `${key}:\n${items.map((item) => indent(item, '  ')).join('')}`;
}

/** An expression with quotes is easier to read in a literal block. */
function unquoteExpressions(yaml: string): string {
  return yaml.replace(
    /^( *)((?:- )?)expression: '(.*)'$/gm,
    (_line, indent: string, dash: string, text: string) => {
      const block = `${indent}${' '.repeat(dash.length)}  `;
      return `${indent}${dash}expression: |-\n${block}${text.replaceAll("''", "'")}`;
    },
  );
}

function commentLine(text: string): string {
  return text === '' ? '#\n' : `# ${text}\n`;
}

function indent(text: string, by: string): string {
  return text.replace(/^(?=.)/gm, by);
}
