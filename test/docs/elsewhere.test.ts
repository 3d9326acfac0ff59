import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allCommands, modelOf } from '../../src/cli/command-model.ts';
import { createProgram } from '../../src/cli/program.ts';
import { blocksOf, markdownPages, root } from './pages.testing.ts';

/** Other tests run variants of `sh elsewhere` blocks. This test checks that their commands, flags, scripts, values and files exist. */
const lines = markdownPages().flatMap((page) =>
  blocksOf(page)
    .filter(({ language, marks }) => language === 'sh' && marks.includes('elsewhere'))
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => [page.path, line] as const),
);
const output = { isTTY: false, write: () => undefined };
const io = { stdin: nothing(), stdout: output, stderr: output, cwd: '.', env: {} };
const commands = allCommands(modelOf(await createProgram(io, () => undefined)));
const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
const values: unknown = parse(readFileSync(join(root, 'charts/kymera/values.yaml'), 'utf8'));

describe('commands that other tests run', () => {
  it.each(lines)('%s: %s', (_, line) => {
    const words = line.split(/\s+/).filter((word) => !/^[A-Z_]+=/.test(word));
    expect(problemsOf(words)).toEqual([]);
  });
  it('exist', () => expect(lines.length).toBeGreaterThan(0));
});

function problemsOf([program = '', ...args]: readonly string[]): readonly string[] {
  const flags = args.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0] ?? '');
  switch (program) {
    case 'kymera': {
      const command = commands
        .filter(({ path }) => path.length > 0 && path.every((word, index) => word === args[index]))
        .toSorted((left, right) => right.path.length - left.path.length)[0];
      if (command === undefined) return [`the command ${args[0]} does not exist`];
      const known = command.options.flatMap(({ text }) => text.match(/--[a-z-]+/g) ?? []);
      return flags.filter((flag) => !known.includes(flag));
    }
    case 'npm': {
      const script = args[0] === 'run' ? args[1] : args[0];
      return scripts.includes(script ?? '') ? [] : [`the script ${script} does not exist`];
    }
    case 'helm':
      return args.flatMap((word, index) =>
        args[index - 1] === '--set' ? missingValue(word) : missingFolder(word),
      );
    case 'kubectl':
      return args.flatMap((word, index) =>
        ['-k', '-f'].includes(args[index - 1] ?? '') ? missingFolder(word) : [],
      );
    case 'kustomize':
      return flags.filter((flag) => !['--enable-alpha-plugins', '--enable-exec'].includes(flag));
    default:
      return [`unknown program ${program}`];
  }
}

function missingValue(setting: string): readonly string[] {
  const path = (setting.split('=')[0] ?? '').split('.');
  let found = values;
  for (const key of path) {
    // Users fill empty maps; the schema of the values describes them.
    if (typeof found === 'object' && found !== null && Object.keys(found).length === 0) return [];
    found = (found as Record<string, unknown> | undefined)?.[key];
  }
  return found === undefined ? [`values.yaml has no ${path.join('.')}`] : [];
}

function missingFolder(word: string): readonly string[] {
  return /^(charts|deploy)(\/|$)/.test(word) && !existsSync(join(root, word))
    ? [`${word} does not exist`]
    : [];
}

async function* nothing(): AsyncGenerator<string> {}
