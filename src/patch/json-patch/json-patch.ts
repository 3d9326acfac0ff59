import type { EvaluationErrorOptions, Scope } from '../../expression/scope.ts';
import type { TemplateOptions } from '../../expression/template/template.ts';
import type { Draft } from '../../json/draft.ts';
import { equal } from '../../json/equal.ts';
import { applyOperation, PatchApplyError } from '../../json/patch/apply-patch.ts';
import type { EditMode } from '../../json/patch/apply-step.ts';
import { type Operation, operationNames } from '../../json/patch/operation.ts';
import { parsePointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { type CompiledPatch, PatchError } from '../compiled-patch.ts';
import { applyDeclared } from './declared.ts';
import type { PatchNode } from './node.ts';
import { type CompiledOperation, compileOperation, type OperationRules, readOperation } from './operation.ts';
import { compileNode, type PatchLocation, type PatchValue, renderValue } from './render.ts';
import { PatchTextError, parsePatchText, parseRenderedPatch } from './text.ts';
import { nodeOfDocument, readTrailingSlash } from './v1alpha1.ts';

export interface JsonPatchOptions extends TemplateOptions {
  /** Kyverno rejects variables in paths outside a foreach. */
  readonly allowVariablesInPath?: boolean | undefined;
}

/** A JSON patch that cannot be applied, with the operation and the path in the object. */
export class JsonPatchError extends PatchError {
  /** The index of the operation, from 0. */
  readonly index: number;
  constructor(index: number, path: Path, message: string, options?: EvaluationErrorOptions) {
    super('KYM_JSON_PATCH_FAILED', path, message, options);
    this.index = index;
  }
}

/**
 * Compiles `patchesJson6902` (a string), or `mutate.patches` of v1alpha1 (a list). Operations without variables are
 * ready to apply; the others substitute their variables for each request.
 */
export function compileJsonPatch(
  source: Json,
  path: Path,
  reporter: Reporter,
  options: JsonPatchOptions = {},
): CompiledPatch | undefined {
  const isText = typeof source === 'string';
  const roots = new Set<string>();
  const location: PatchLocation = { path, reporter, options, roots };
  const rules: OperationRules = {
    names: isText ? operationNames : ['add', 'replace', 'remove'],
    allowVariablesInPath: options.allowVariablesInPath ?? true,
  };
  const root = isText ? readText(source, location) : nodeOfDocument(source);
  const operations = root && compileOperations(root, location, rules);
  if (operations === undefined) return undefined;
  const apply = isText ? applyOperation : applyV1alpha1;
  return {
    path,
    roots,
    apply: (object, scope, draft) => ({
      status: 'patched',
      object: applyAll(object, operations, scope, apply, path, draft),
      misses: [],
    }),
  };
}

function readText(text: string, location: PatchLocation): PatchNode | undefined {
  try {
    return parsePatchText(text);
  } catch (error) {
    if (!(error instanceof PatchTextError)) throw error;
    location.reporter.error(
      location.path,
      'KYM_YAML_SYNTAX',
      `the patch is not well-formed YAML or JSON: ${error.message}`,
      'a variable can be a value, a part of a string, or the whole patch',
    );
    return undefined;
  }
}

type OperationSource = (scope: Scope) => readonly CompiledOperation[];

function compileOperations(
  root: PatchNode,
  location: PatchLocation,
  rules: OperationRules,
): OperationSource | undefined {
  if (root.type === 'template') {
    const whole = compileNode({ ...root, reading: 'typed' }, location);
    return (scope) => readRendered(whole, scope, rules);
  }
  if (root.type !== 'list') {
    location.reporter.error(
      location.path,
      'KYM_JSON_PATCH_INVALID',
      `the patch must be a list of operations, not ${root.type === 'map' ? 'a map' : 'a single value'}`,
      'begin each operation with `- op: …`',
    );
    return undefined;
  }
  const compiled = root.items.map((item, index) => compileOperation(item, index, location, rules));
  const operations = compiled.filter((operation) => operation !== undefined);
  return operations.length === compiled.length ? () => operations : undefined;
}

/** The whole patch is a variable, as in `{{ to_string(operations) }}`. Its value is parsed for each request. */
function readRendered(whole: PatchValue, scope: Scope, rules: OperationRules): readonly CompiledOperation[] {
  const rendered = renderValue(whole, scope);
  const list = typeof rendered === 'string' ? parseRendered(rendered) : rendered;
  if (!isArray(list))
    throw new JsonPatchError(0, [], 'the patch is not a list of operations after substituting variables');
  return list.map((item, index) => {
    const operation = readOperation(item, index, rules);
    return { index, isConstant: false, resolve: () => operation };
  });
}

function parseRendered(text: string): Json {
  try {
    return plainValue(parseRenderedPatch(text));
  } catch (error) {
    if (!(error instanceof PatchTextError)) throw error;
    throw new JsonPatchError(
      0,
      [],
      'the patch is not well-formed YAML or JSON after substituting variables',
      {
        cause: error,
      },
    );
  }
}

/** A rendered string contains no templates. */
function plainValue(node: PatchNode): Json {
  if (node.type === 'list') return node.items.map(plainValue);
  if (node.type === 'template') return node.text;
  if (node.type === 'constant') return node.value;
  return Object.fromEntries(
    node.entries.map(({ key, value }) => [String(plainValue(key)), plainValue(value)]),
  );
}

type ApplyOne = (document: Json, operation: Operation, index: number, mode: EditMode) => Json;

/** In v1alpha1 a `remove` that cannot be applied is ignored. */
const applyV1alpha1: ApplyOne = (document, operation, index, mode) => {
  let result = document;
  for (const step of readTrailingSlash(operation)) {
    try {
      result = applyOperation(result, step, index, mode);
    } catch (error) {
      if (step.op !== 'remove' || !(error instanceof PatchApplyError)) throw error;
    }
  }
  return result;
};

function applyAll(
  object: JsonObject,
  operations: OperationSource,
  scope: Scope,
  apply: ApplyOne,
  location: Path,
  draft: Draft | undefined,
): JsonObject {
  const mode: EditMode = { lenient: true, draft };
  let result: Json = object;
  let count = 0;
  try {
    for (const { index, isConstant, resolve } of operations(scope)) {
      const operation = resolve(scope);
      // What it copies is in two places afterwards.
      if (operation.op === 'copy') draft?.release();
      result = applyDeclared(result, operation, object, isConstant, (document, declared) =>
        apply(document, declared, index, mode),
      );
      count++;
    }
  } catch (error) {
    if (!(error instanceof PatchApplyError)) throw error;
    throw new JsonPatchError(error.index, pathOf(error), error.message, {
      cause: error,
      location: [...location, error.index],
    });
  }
  // A single operation returns its input when it changes nothing, but several may undo each other.
  if (result === object || (count > 1 && equal(result, object))) return object;
  if (!isObject(result))
    throw new JsonPatchError(0, [], 'the patch would replace the object with a value that is not an object');
  return result;
}

function pathOf(error: PatchApplyError): Path {
  return error.path.startsWith('/') ? parsePointer(error.path) : [];
}
