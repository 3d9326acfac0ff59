import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  /** The word after the fence: the language. */
  readonly language: string;
  /** What follows it: how the block is tested. */
  readonly marks: readonly string[];
  readonly text: string;
  readonly line: number;
}

const passedOver = new Set(['node_modules', 'dist', 'coverage']);

/** Every page of the repository, cases of the conformance suites apart. */
export function markdownPages(folder = root): readonly Page[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || passedOver.has(entry.name) ? [] : markdownPages(path);
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

/** Prose alone: what stands in code is no link and no heading. */
export function proseOf(page: Page): string {
  return page.text
    .replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
}

/** What is typed in a console, in order, with what is printed after it. */
export function stepsOf(text: string): readonly (readonly [string, string])[] {
  return text
    .split(/^\$ /m)
    .filter((step) => step !== '')
    .map((step) => {
      const end = step.indexOf('\n');
      return [step.slice(0, end), step.slice(end + 1)] as const;
    });
}

/** A line `…` stands for any lines. */
export function outputShape(output: string): RegExp {
  const lines = output.split(/^…\n/m).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${lines.join('[\\s\\S]*')}$`);
}
