import type { CelScope } from '../../cel/compile/closure.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CelEffect, CelHost, CelVerdict, CompiledCelProgram } from '../compiled-cel.ts';
import type { CompiledConstraints } from './constraints.ts';
import { type Exemption, exemption } from './exemption.ts';
import { type PlacedExpression, type ProgramParts, Run } from './program.ts';
import { type CurrentObject, createScope, type ScopeOptions } from './scope.ts';

/** What a MutatingPolicy evaluates for a request. */
interface Program {
  readonly parts: ProgramParts;
  readonly annotations: readonly PlacedExpression[];
  readonly scope: ScopeOptions;
}

const dataNames = ['resource', 'http', 'globalContext', 'image', 'namespaceObject'];

export function createMutatingProgram(
  program: Program,
  { mismatch, clauses }: CompiledConstraints,
): CompiledCelProgram {
  const { parts } = program;
  const expressions = [
    ...parts.variables.expressions.values(),
    ...[...parts.conditions, ...parts.mutations].map(({ expression }) => expression),
  ];
  return {
    readsData: expressions.some(({ reads }) => dataNames.some((name) => reads.has(name))),
    mismatch,
    clauses,
    run: (object, host) => runPolicy(program, object, host),
    check(object, host) {
      const exempted = exemption(object, host);
      return verdictOf(program, exempted, scopeFor(program, exempted, { object }, host), new Run(host));
    },
  };
}

function runPolicy(program: Program, object: JsonObject | null, host: CelHost): CelEffect {
  const { parts, annotations } = program;
  const run = new Run(host);
  const current: CurrentObject = { object };
  const exempted = exemption(object, host);
  const scope = scopeFor(program, exempted, current, host);
  const verdict = verdictOf(program, exempted, scope, run);
  if (verdict.status !== 'passed') return { ...verdict, traces: run.traces };
  let changed = object;
  for (const step of parts.mutations) {
    try {
      changed = run.mutate(changed, step, scope, parts);
    } catch (error) {
      return run.failed(error, step);
    }
    current.object = changed;
  }
  if (annotations.length === 0) return run.mutated(changed);
  const values: Record<string, string> = {};
  for (const annotation of annotations) {
    try {
      const text = run.evaluate(annotation, scope);
      if (typeof text === 'string' && text !== '') values[annotation.name] = text;
    } catch (error) {
      return run.failed(error, annotation);
    }
  }
  return run.mutated(changed, values);
}

function scopeFor(
  { parts, scope }: Program,
  exempted: Exemption,
  current: CurrentObject,
  host: CelHost,
): CelScope {
  const values = 'failure' in exempted ? undefined : exempted.values;
  return parts.variables.bind(createScope(current, host, scope, values));
}

const passed: CelVerdict = { status: 'passed' };

/** Exceptions, then conditions. */
function verdictOf({ parts }: Program, exempted: Exemption, scope: CelScope, run: Run): CelVerdict {
  if ('failure' in exempted) return { status: 'failed', failure: exempted.failure };
  if (exempted.skip !== undefined) return { status: 'skipped', reason: exempted.skip };
  const unmet = run.unmet(parts.conditions, scope);
  if (unmet === undefined) return passed;
  return 'code' in unmet ? { status: 'failed', failure: unmet } : { status: 'skipped', reason: unmet };
}
