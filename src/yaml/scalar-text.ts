import { resolveYamlScalar } from './scalar.ts';

/**
 * Formats a string as a YAML scalar on one line: plain if every YAML 1.1 and 1.2 reader returns the same string, in
 * double quotes if one would read another type, in single quotes if the syntax requires quotes.
 */
export function formatText(text: string): string {
  const known = formatted.get(text);
  if (known !== undefined) return known;
  const result = format(text);
  if (text.length <= 64 && formatted.size < 10_000) formatted.set(text, result);
  return result;
}

/** A cache: keys and short values repeat over thousands of objects. */
const formatted = new Map<string, string>();

function format(text: string): string {
  if (unprintable.test(text)) return doubleQuoted(text);
  if (looksTyped(text)) return doubleQuoted(text);
  return needsQuotes.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

/** An escaped string in double quotes. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    escapedBesidesJson,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const date = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt \t])/;
/** Some YAML 1.1 readers read `e0` as a number. */
const bareExponent = /^[eE][-+]?[0-9]+$/;
const numberStart = /^[-+.0-9]/;

/** Whether some YAML reader reads the plain scalar as null, a boolean, a number, a date or a merge key. */
function looksTyped(text: string): boolean {
  if (text === '' || text === '=' || text === '<<' || bareExponent.test(text)) return true;
  if (!numberStart.test(text)) return typeof resolveYamlScalar(text) !== 'string';
  if (/^[-+]?(?:\.(?:inf|nan)|[._]+)$/i.test(text)) return true;
  return (
    !Number.isNaN(Number(text.replaceAll('_', ''))) ||
    isResolved(text) ||
    sexagesimal.test(text) ||
    date.test(text)
  );
}

function isResolved(text: string): boolean {
  return typeof resolveYamlScalar(text) !== 'string';
}

const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to be found
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const escapedBesidesJson = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
const needsQuotes = /^[\s,[\]{}#&*!|>'"%@`]|^[-?:](?:\s|$)|^(?:---|\.\.\.)|:(?:\s|$)|\s#|\s$/;

export function isUnprintable(text: string): boolean {
  return unprintable.test(text);
}
