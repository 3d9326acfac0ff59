import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface Page {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  /** The first word after the fence. */
  readonly language: string;
  /** The other words, which select how the block is tested. */
  readonly marks: readonly string[];
  readonly text: string;
  readonly line: number;
}

const ignored = new Set(['node_modules', 'dist', 'coverage']);

/** Every Markdown page of the repository. */
export function markdownPages(folder = root): readonly Page[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || ignored.has(entry.name) ? [] : markdownPages(path);
    }
    return entry.isFile() && entry.name.endsWith('.md')
      ? [{ path: relative(root, path), text: readFileSync(path, 'utf8') }]
      : [];
  });
}

export function blocksOf(page: Page): readonly Block[] {
  const fenced = page.text.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^ *```$/gm);
  return [...fenced].map((found) => {
    const [, indent = '', info = '', text = ''] = found;
    const [language = '', ...marks] = info.trim().split(/\s+/);
    return {
      language,
      marks,
      text: indent === '' ? text : text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: page.text.slice(0, found.index).split('\n').length,
    };
  });
}

/** The page without code, which contains no links and headings. */
export function proseOf(page: Page): string {
  return page.text
    .replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
}

/** The commands of a console block, each with its output. */
export function stepsOf(text: string): readonly (readonly [string, string])[] {
  return text
    .split(/^\$ /m)
    .filter((step) => step !== '')
    .map((step) => {
      const end = step.indexOf('\n');
      return [step.slice(0, end), step.slice(end + 1)] as const;
    });
}

/** A line `…` matches any lines. */
export function outputShape(output: string): RegExp {
  const lines = output.split(/^…\n/m).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${lines.join('[\\s\\S]*')}$`);
}
