import type { CompiledException } from '../compiled.ts';
import type { CompiledCelException } from '../compiled-cel.ts';
import { lazy, oncePer } from '../lazy.ts';
import { alternativesOf, kindsOf, type SubjectKey } from './literal-clauses.ts';
import { indexAlternatives, inOrder, type LiteralIndex } from './rule-index.ts';

const alternativesOfException = oncePer(({ match }: CompiledException) => alternativesOf(match));

/** The exceptions that name a policy. */
interface PolicyExceptions {
  readonly all: CompiledException[];
  meeting(key: SubjectKey): readonly CompiledException[];
}

export function indexExceptions(
  exceptions: readonly CompiledException[],
): ReadonlyMap<string, PolicyExceptions> {
  const byPolicy = new Map<string, PolicyExceptions>();
  for (const exception of exceptions) {
    for (const name of new Set(exception.exceptions.map(({ policyName }) => policyName))) {
      const known = byPolicy.get(name);
      if (known === undefined) byPolicy.set(name, exceptionsOfPolicy([exception]));
      else known.all.push(exception);
    }
  }
  return byPolicy;
}

function exceptionsOfPolicy(all: CompiledException[]): PolicyExceptions {
  const index = lazy(() => indexAlternatives(all.map(alternativesOfException)));
  return {
    all,
    meeting: (key) => positionsOf(index(), key).map((position) => all[position] as CompiledException),
  };
}

/** In ascending order. */
function positionsOf(index: LiteralIndex, key: SubjectKey): readonly number[] {
  const kinds = kindsOf(key);
  return inOrder([...index.restricted(kinds, key.subject), ...index.unrestricted(kinds)]);
}

export function indexCelExceptions(
  exceptions: readonly CompiledException[],
): ReadonlyMap<string, readonly CompiledCelException[]> {
  const index = new Map<string, CompiledCelException[]>();
  for (const { cel } of exceptions) {
    for (const key of new Set(cel?.policies.map(({ kind, name }) => `${kind} ${name}`))) {
      const list = index.get(key);
      if (cel === undefined) continue;
      if (list === undefined) index.set(key, [cel]);
      else list.push(cel);
    }
  }
  return index;
}
