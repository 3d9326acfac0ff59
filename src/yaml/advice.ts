/** What an author probably meant, for mistakes that YAML itself reports in its own terms, or not at all. */
export interface YamlAdvice {
  /** Replaces the message of the parser. */
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
  /** The source line of the error, unless it is blank. */
  readonly sourceLine?: string | undefined;
}

/** Longer lines are cut. */
const longestLine = 400;

/** Advice on a syntax error at a line (1-based) of a document. */
export function adviseOnSyntax(text: string, line: number): YamlAdvice {
  const written = (text.split('\n', line)[line - 1] ?? '').slice(0, longestLine).replace(/\r$/, '');
  const sourceLine = written.trim() === '' ? undefined : written;
  if (looksLikeHelm(text)) return { hint: helmHint, sourceLine };
  const unquoted = unquotedVariable(written);
  if (unquoted !== undefined) return { message: `quote the value: ${unquoted}`, sourceLine };
  const hint = /^\s*\t/.test(written) ? 'Indent with spaces: YAML does not allow tabs.' : undefined;
  return { hint, sourceLine };
}

export const helmHint = 'This looks like a Helm template: render it with `helm template` first.';

const helmSyntax =
  /\{\{-?\s*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|(?:if|else|range|with|define|include|template|block|tpl|toYaml|end)\b(?!\s*[.(|])|\$\w*\s*:=|\/\*)/;

/** Whether a source contains directives of Helm. No JMESPath expression starts like them. */
export function looksLikeHelm(text: string): boolean {
  return helmSyntax.test(text);
}

/** The value of a line that begins with an unquoted `{{`, in quotes. YAML reads it as a map. */
function unquotedVariable(line: string): string | undefined {
  const value = /^\s*(?:-\s+)*(?:[^\s'"{[#][^'"{[#]*?:\s+)?(\{\{.*\S)\s*$/.exec(line)?.[1];
  if (value === undefined || !value.includes('}}')) return undefined;
  const quote = value.includes('"') ? "'" : '"';
  return `${quote}${quote === "'" ? value.replaceAll("'", "''") : value}${quote}`;
}

/** Says that a plain scalar is not a string: `yes is a boolean in YAML: write "yes"`. */
export function notAString(written: string, value: boolean | number | bigint): string {
  const type =
    typeof value === 'boolean'
      ? 'a boolean'
      : String(value) === written
        ? 'a number'
        : `the number ${String(value)}`;
  return `${written} is ${type} in YAML: write "${written}"`;
}
