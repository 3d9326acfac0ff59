import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';

export const policyKinds = ['MutatingPolicy', 'MutatingAdmissionPolicy'] as const;
export type PolicyKind = (typeof policyKinds)[number];

/** Expressions from arguments and files, in this order; from standard input when there are none. */
export async function readExpressions(
  given: readonly string[],
  files: readonly string[],
  io: Io,
): Promise<readonly string[]> {
  const read: string[] = [];
  for (const file of files) read.push(await readWhole(file, io));
  const all = [...given, ...read];
  const sources = all.length > 0 ? all : [await readWhole('-', io)];
  return sources.map((source) => source.trim());
}
