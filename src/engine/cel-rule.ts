import { Suspend } from '../expression/scope.ts';
import type { JsonObject, Path } from '../json/value.ts';
import type { AnchorMiss } from '../patch/compiled-patch.ts';
import type { CelHost, CelTrace, CompiledCelProgram } from '../policy/compiled-cel.ts';
import { assertSameIdentity, type RuleEffect } from './rule.ts';
import { failureOf, stageError } from './stage.ts';

export interface CelRuleEffect {
  readonly effect: RuleEffect;
  readonly traces: readonly CelTrace[];
}

const mutationsPath: Path = ['spec', 'mutations'];
const noMisses: readonly AnchorMiss[] = [];

/** Runs a program of a CEL policy. Throws only Suspend. */
export function runCelRule(
  program: Pick<CompiledCelProgram, 'run' | 'admission'>,
  object: JsonObject | null,
  host: CelHost,
): CelRuleEffect {
  try {
    const result = program.run(object, host);
    const mayRename = program.admission !== undefined;
    return { effect: effectOf(result, object, mayRename), traces: result.traces };
  } catch (error) {
    if (error instanceof Suspend) throw error;
    return { effect: { status: 'failed', failure: failureOf(error, 'evaluation', ['spec']) }, traces: [] };
  }
}

function effectOf(
  result: ReturnType<CompiledCelProgram['run']>,
  before: JsonObject | null,
  mayRename: boolean,
): RuleEffect {
  switch (result.status) {
    case 'skipped':
      return { status: 'skipped', reason: result.reason };
    case 'failed': {
      const { path, ...cause } = result.failure;
      const failure = { ...cause, stage: 'evaluation', rulePath: path } as const;
      return { status: 'failed', failure, kept: result.object };
    }
    case 'mutated': {
      const { object, annotations, warnings } = result;
      if (before === null || object === null || object === before)
        return { status: 'unchanged', misses: noMisses, annotations, warnings };
      try {
        assertSameIdentity(before, object, mayRename);
      } catch (error) {
        throw stageError(error, 'identity', mutationsPath);
      }
      return { status: 'applied', object, misses: noMisses, annotations, warnings };
    }
  }
}
