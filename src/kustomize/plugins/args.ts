import { type JsonObject, member } from '../../json/value.ts';
import type { KustomizationFolder } from '../kustomization/folder.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** The plugin arguments of a config: `argsOneLiner`, split like a shell does, and the lines of `argsFromFile`. */
export function pluginArguments(config: JsonObject, folder: KustomizationFolder): readonly string[] {
  const line = member(config, 'argsOneLiner');
  const file = member(config, 'argsFromFile');
  const fromFile =
    typeof file === 'string' && file !== '' ? folder.readText(file, 'argsFromFile').split('\n') : [];
  return [
    ...(typeof line === 'string' ? splitWords(line) : []),
    ...fromFile.map((text) => text.replace(/^ +/, '')).filter((text) => text !== ''),
  ];
}

/** Splits words with shell quotes and backslashes; `#` starts a comment. Empty quotes produce no word. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  let isEscaped = false;
  const end = () => {
    if (word !== '') words.push(word);
    word = '';
  };
  for (const character of line) {
    if (isEscaped) {
      word += character;
      isEscaped = false;
    } else if (character === '\\' && quote !== "'") {
      isEscaped = true;
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
    } else if (character === quote) {
      quote = '';
    } else if (quote === '' && character === '#') {
      break;
    } else if (quote === '' && /\s/.test(character)) {
      end();
    } else {
      word += character;
    }
  }
  if (quote !== '') {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `argsOneLiner has an unclosed quote: ${line}`);
  }
  end();
  return words;
}
