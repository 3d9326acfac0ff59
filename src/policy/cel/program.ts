import type { CelScope } from '../../cel/compile/closure.ts';
import type { CelExpression, CelStep } from '../../cel/expression.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList } from '../../cel/value/kinds.ts';
import { formatValue } from '../../cel/value/text.ts';
import { Optional, SpecialValue, type Value } from '../../cel/value/value.ts';
import type { CompiledVariables } from '../../cel/variables.ts';
import { EvaluationError } from '../../expression/scope.ts';
import { BudgetError } from '../../json/budget.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { PatchError } from '../../patch/compiled-patch.ts';
import { applyConfiguration } from '../../patch/structured/apply-configuration.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { applyJsonPatches } from '../../patch/structured/json-patch.ts';
import { schemaFromOpenApi } from '../../patch/structured/openapi.ts';
import { anySchema, type SchemaLookup } from '../../patch/structured/schema.ts';
import type { CelEffect, CelFailure, CelHost, CelSkip, CelTrace, CelTraceStep } from '../compiled-cel.ts';

/** An expression of a policy and its place. */
export interface PlacedExpression {
  /** For messages and explanations: `matchConditions "is-prod"`. */
  readonly label: string;
  readonly name: string;
  readonly path: Path;
  readonly expression: CelExpression;
}

export interface CompiledStep extends PlacedExpression {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch';
}

/**
 * Whose behaviour counts where ours is deliberately different. `kyverno` also refuses objects with fields that the schema does not
 * declare; an API server drops such fields before it evaluates policies.
 */
export type Fidelity = 'own' | 'apiServer' | 'kyverno';

/** The expressions of a policy, compiled. */
export interface ProgramParts {
  readonly conditions: readonly PlacedExpression[];
  readonly variables: CompiledVariables;
  readonly mutations: readonly CompiledStep[];
  readonly serverSideApply: boolean;
  readonly fidelity: Fidelity;
  /** Merges objects of a kind without a schema all the same: maps by key, lists as a whole. */
  readonly mergesWithoutSchema: boolean;
}

/** Evaluates the expressions of one program for one request. */
export class Run {
  readonly traces: CelTrace[] = [];
  readonly warnings: string[] = [];
  readonly #host: CelHost;

  constructor(host: CelHost) {
    this.#host = host;
  }

  evaluate({ expression, label, path }: PlacedExpression, scope: CelScope): Value {
    if (!this.#host.explain) {
      try {
        return expression.evaluate(scope);
      } catch (error) {
        throw errorAt(error, path);
      }
    }
    const steps = this.#steps(expression, path, scope);
    const last = steps.at(-1);
    // Of lists and maps only the result is shown: converting each part would take long for large objects.
    const shown = steps.filter((step) => step === last || step.error !== undefined || isScalar(step.value));
    this.traces.push({ label, path, steps: shown.map(traceStep) });
    if (last?.error !== undefined) throw last.error;
    return last?.value ?? null;
  }

  #steps(expression: CelExpression, path: Path, scope: CelScope): readonly CelStep[] {
    try {
      return expression.trace(scope);
    } catch (error) {
      throw errorAt(error, path);
    }
  }

  /** All true: undefined. One false decides, even when another fails; otherwise an error fails. */
  unmet(conditions: readonly PlacedExpression[], scope: CelScope): CelSkip | CelFailure | undefined {
    let failure: CelFailure | undefined;
    for (const condition of conditions) {
      try {
        if (this.evaluate(condition, scope) !== true) {
          const { name, path, expression } = condition;
          return { type: 'matchCondition', name, path, expression: expression.source };
        }
      } catch (error) {
        failure ??= failureOf(error, condition);
      }
    }
    return failure;
  }

  mutate<Current extends JsonObject | null>(
    object: Current,
    step: CompiledStep,
    scope: CelScope,
    parts: ProgramParts,
  ): JsonObject | Current {
    const value = this.evaluate(step, scope);
    if (object === null) {
      refuseChange(value, step, parts);
      return object;
    }
    try {
      if (step.patchType === 'JSONPatch')
        return applyJsonPatches(object, value, { strict: parts.fidelity !== 'own' });
      return applyConfiguration(object, value, {
        schemaOf: this.#schemaLookup(parts),
        serverSideApply: parts.serverSideApply,
        mapsInLists: parts.fidelity === 'own',
        undeclaredFields: parts.fidelity !== 'kyverno',
        warnings: this.warnings,
      });
    } catch (error) {
      throw errorAt(error, step.path);
    }
  }

  /** Built-in kinds first; then what the data source knows of custom kinds. */
  #schemaLookup({ mergesWithoutSchema }: ProgramParts): SchemaLookup {
    return (apiVersion, kind) => {
      const builtIn = builtInSchema(apiVersion, kind);
      if (builtIn !== undefined) return builtIn;
      const answer = this.#host.read({ type: 'schema', apiVersion, kind });
      const found = answer.found
        ? schemaFromOpenApi(answer.value as JsonObject, apiVersion, kind)
        : undefined;
      // A schema that cannot be read now may have lists with keys.
      const isAbsent = answer.found || answer.absent === true;
      if (found !== undefined || !mergesWithoutSchema || !isAbsent) return found;
      this.warnings.push(
        `there is no schema for ${kind} of ${apiVersion}: maps are merged by key, and lists are replaced`,
      );
      return anySchema;
    };
  }

  mutated(object: JsonObject | null, annotations = noAnnotations): CelEffect {
    const { traces, warnings } = this;
    return {
      status: 'mutated',
      object,
      annotations,
      traces,
      warnings: warnings.length === 0 ? undefined : warnings,
    };
  }

  failed(error: unknown, place: Pick<PlacedExpression, 'path'>): CelEffect {
    return { status: 'failed', failure: failureOf(error, place), traces: this.traces };
  }
}

const nothing: JsonObject = {};
const noAnnotations: Readonly<Record<string, string>> = {};

/** On DELETE a mutation fails, unless it changes nothing: an empty list of JSON patches, or one whose `test` fails. */
function refuseChange(value: Value, { patchType }: CompiledStep, { fidelity }: ProgramParts): void {
  if (patchType === 'JSONPatch') {
    const isEmpty = isList(value) && value.length === 0;
    const isRefused = isEmpty ? fidelity === 'kyverno' : applyJsonPatches(nothing, value) !== nothing;
    if (!isRefused) return;
  }
  const reason = `a request to DELETE has no object that ${patchType === 'JSONPatch' ? 'a JSONPatch' : 'an ApplyConfiguration'} could change`;
  throw new EvaluationError('KYM_CEL_FAILED', reason, { reason });
}

/** Deep values exhaust the stack; an exhausted budget is reported where it was spent. */
function errorAt(error: unknown, path: Path): unknown {
  if (error instanceof RangeError) return new CelError(`a value is too large: ${error.message}`);
  if (error instanceof BudgetError && error.location === undefined)
    return new BudgetError(error.message, path);
  return error;
}

/** Errors of policy content; others pass through. */
export function failureOf(error: unknown, { path }: Pick<PlacedExpression, 'path'>): CelFailure {
  if (error instanceof CelError) return { code: 'KYM_CEL_FAILED', path, detail: error.message };
  if (error instanceof PatchError) {
    const objectPath = error.path.length === 0 ? undefined : error.path;
    return { code: error.code, path, objectPath, detail: `error applying patch: ${error.message}` };
  }
  if (error instanceof EvaluationError)
    return { code: error.code, path, detail: error.message, reason: error.reason };
  throw error;
}

function traceStep({
  source,
  value,
  error,
}: {
  readonly source: string;
  readonly value?: Value | undefined;
  readonly error?: CelError | undefined;
}): CelTraceStep {
  return error === undefined ? { source, value: jsonOf(value ?? null) } : { source, error: error.message };
}

function isScalar(value: Value | undefined): boolean {
  if (value instanceof Optional) return isScalar(value.value);
  return typeof value !== 'object' || value === null || value instanceof SpecialValue;
}

function jsonOf(value: Value): Json {
  if (value instanceof Optional) return value.value === undefined ? 'optional.none()' : jsonOf(value.value);
  try {
    return toJson(value);
  } catch (error) {
    if (error instanceof CelError || error instanceof RangeError) return formatValue(value);
    throw error;
  }
}
