// Reads a Dockerfile and a .dockerignore, as far as ours use their languages.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** @returns {{ line: number, name: string, text: string }[]} instructions in order; continued lines are one */
export function readDockerfile(file) {
  const instructions = [];
  let open;
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const text = line.replace(/\\$/, '').trim();
    if (open) open.text += ` ${text}`;
    else {
      const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? [];
      open = { line: index + 1, name: name.toUpperCase(), text: rest };
      instructions.push(open);
    }
    if (!line.endsWith('\\')) open = undefined;
  }
  return instructions;
}

/** @returns stages in order, each with its base, name and the instructions after FROM; ARG before the first FROM is in `globals` */
export function stagesOf(instructions) {
  const globals = {};
  const stages = [];
  for (const instruction of instructions) {
    const { name, text } = instruction;
    if (name === 'FROM') {
      const [, base = '', , stage] = /^(\S+)(\s+AS\s+(\S+))?$/i.exec(text) ?? [];
      stages.push({ base: expand(base, globals), name: stage ?? String(stages.length), instructions: [] });
    } else if (stages.length > 0) stages.at(-1).instructions.push(instruction);
    else if (name === 'ARG') Object.assign(globals, argument(text));
  }
  return stages;
}

export function argument(text) {
  const [name, ...rest] = text.split('=');
  return { [name]: rest.join('=') };
}

export function expand(text, variables) {
  return text.replaceAll(/\$\{(\w+)\}|\$(\w+)/g, (_, braced, bare) => variables[braced ?? bare] ?? '');
}

/** `--from=build a b to/`. */
export function copyParts(text) {
  const words = text.split(/\s+/);
  const flags = words.filter((word) => word.startsWith('--'));
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) };
}

/** Files of the build context, with / between the parts of their paths. */
export function contextFiles(folder) {
  const rules = ignoreRules(join(folder, '.dockerignore'));
  const isIgnored = (path) =>
    rules.reduce((ignored, rule) => (rule.matches(path) ? !rule.negated : ignored), false);
  const mayHold = (path) =>
    rules.some(
      ({ negated, pattern }) => negated && (pattern.startsWith(`${path}/`) || path.startsWith(pattern)),
    );
  const walk = (path) =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const full = join(path, entry.name);
      const shown = relative(folder, full);
      if (entry.isDirectory()) return !isIgnored(shown) || mayHold(shown) ? walk(full) : [];
      return isIgnored(shown) ? [] : [shown];
    });
  return walk(folder);
}

function ignoreRules(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const negated = line.startsWith('!');
      const pattern = negated ? line.slice(1) : line;
      return { negated, pattern, matches: matcher(pattern) };
    });
}

/** A pattern that names a folder means all in it. */
function matcher(pattern) {
  const expression = pattern
    .split(/(\*\*\/|\*)/)
    .map((part) =>
      part === '**/' ? '(?:.*/)?' : part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('');
  const compiled = new RegExp(`^${expression}(?:/.*)?$`);
  return (path) => compiled.test(path);
}

export function sizeOf(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
