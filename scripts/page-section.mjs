// Pages have sections that commands write: between `<!-- NAME: … -->` and `<!-- end of NAME -->`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Replaces the section of a page, whose path is relative to the repository. */
export function writeSection(path, name, content) {
  const file = join(root, path);
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), name, content));
}

export function replaceSection(text, name, content) {
  const found = new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(<!-- end of ${name} -->)`).exec(text);
  if (found === null) throw new Error(`the page has no section ${name}`);
  const end = found.index + found[0].length;
  return `${text.slice(0, found.index)}${found[1]}\n${content.trim()}\n\n${found[2]}${text.slice(end)}`;
}
