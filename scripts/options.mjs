// Options of the commands that measure. A wrong one ends the command before it measures or writes anything.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const numbers = {
  'a positive number': (value) => value > 0,
  'a positive whole number': (value) => value > 0 && Number.isInteger(value),
  'a number of at least 0': (value) => value >= 0,
  'a number above 0 and at most 1': (value) => value > 0 && value <= 1,
};

/**
 * The values of the command line. `options` are as for `parseArgs`, with strings by default; `is` makes one a number of
 * that kind. If one is wrong, the process ends with 2, after a line that says why.
 */
export function readOptions(options, args = process.argv.slice(2)) {
  const types = Object.entries(options).map(([name, { type = 'string', multiple = false }]) => [
    name,
    { type, multiple },
  ]);
  // Not strict, because its errors name neither the options that there are nor a negative number.
  const { values, tokens } = parseArgs({
    options: Object.fromEntries(types),
    args,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) check(options, token);
  const read = Object.entries(options).map(([name, { is, default: otherwise }]) => {
    const value = values[name] ?? otherwise;
    return [name, is === undefined || value === undefined ? value : numberOf(name, is, value)];
  });
  return Object.fromEntries(read);
}

/** The content of the JSON file that an option names. */
export function readJson(option, file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return fail(`--${option} ${file}: ${error.message}`);
  }
}

/** Ends the process because of what the user gave. */
export function fail(message) {
  console.error(message);
  process.exit(2);
}

function check(options, { kind, name, rawName, value }) {
  const known = Object.keys(options).map((each) => `--${each}`);
  const choice = known.length === 0 ? 'this command has no options' : `choose from ${known.join(', ')}`;
  if (kind === 'positional') fail(`${value} is not an option: ${choice}`);
  if (kind !== 'option') return;
  if (!Object.hasOwn(options, name)) fail(`${rawName} is not an option: ${choice}`);
  const isFlag = options[name].type === 'boolean';
  if (isFlag && value !== undefined) fail(`--${name} takes no value`);
  if (!isFlag && !value) fail(`--${name} needs a value`);
}

function numberOf(name, is, text) {
  const value = Number(text);
  if (!Number.isFinite(value) || !numbers[is](value)) fail(`--${name} must be ${is}, not ${text}`);
  return value;
}
