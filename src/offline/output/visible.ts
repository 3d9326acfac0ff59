/** Control characters other than a line feed, and characters that change the direction of text. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Escapes characters that a terminal would interpret, in text that a person reads. Names and values come from the input: they could
 * move the cursor, hide text or imitate other output.
 *
 * @example visible('a\u001b[2J') // 'a\\u001b[2J'
 */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => {
    if (character === '\t') return '\\t';
    if (character === '\r') return '\\r';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** As `visible`, for lines of a source, which may contain tabs. */
export function visibleSource(text: string): string {
  return text.split('\t').map(visible).join('\t');
}

/** As `visible`, for text that must stay on one line, such as a comment in YAML. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n');
}

/** Replaces each such character by one character, where columns must stay aligned. */
export function replaceHidden(text: string): string {
  return text.replaceAll(hidden, '\ufffd');
}
