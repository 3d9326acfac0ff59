import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { createRandom, type Random } from './random.testing.ts';

/** Generates inputs and checks what must hold for every input. `check` throws if it does not. */
export interface Fuzzer<Input = unknown> {
  readonly name: string;
  generate(random: Random): Input;
  check(input: Input): void | Promise<void>;
}

export interface Finding {
  readonly fuzzer: string;
  readonly seed: number;
  readonly error: string;
  /** JSON. Kept, because the same seed gives another input when the generator changes. */
  readonly input: unknown;
}

export interface FuzzRun {
  readonly executions: number;
  readonly findings: readonly Finding[];
}

/** Regression cases: `npm test` replays every file. */
const caseFolder = join(import.meta.dirname, 'cases');
const enoughFindings = 5;

/** Runs seeds from `firstSeed` until the executions or the time are used up. */
export async function fuzz<Input>(
  fuzzer: Fuzzer<Input>,
  limit: { readonly executions: number; readonly milliseconds: number; readonly firstSeed: number },
): Promise<FuzzRun> {
  const endsAt = performance.now() + limit.milliseconds;
  const findings: Finding[] = [];
  let executions = 0;
  while (executions < limit.executions && performance.now() < endsAt && findings.length < enoughFindings) {
    const seed = limit.firstSeed + executions;
    const input = fuzzer.generate(createRandom(seed));
    executions += 1;
    const error = await failureOf(fuzzer, input);
    if (error !== undefined) findings.push({ fuzzer: fuzzer.name, seed, error, input });
  }
  return { executions, findings };
}

export async function failureOf<Input>(fuzzer: Fuzzer<Input>, input: Input): Promise<string | undefined> {
  try {
    await fuzzer.check(input);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

export function keepFinding(finding: Finding): string {
  const file = join(caseFolder, `${finding.fuzzer}-${finding.seed}.json`);
  mkdirSync(caseFolder, { recursive: true });
  // Without the stack, which names files of this machine.
  const error = finding.error.split('\n', 1)[0];
  writeFileSync(file, `${stringifyJson({ ...finding, error }, 2)}\n`);
  return file;
}

export function keptFindings(): readonly (readonly [string, Finding])[] {
  return readdirSync(caseFolder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, parseJson(readFileSync(join(caseFolder, name), 'utf8')) as unknown as Finding]);
}
