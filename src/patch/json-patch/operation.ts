import type { Scope } from '../../expression/scope.ts';
import { PatchApplyError } from '../../json/patch/apply-patch.ts';
import {
  isOperationName,
  type Operation,
  type OperationName,
  OperationSyntaxError,
  parseOperation,
  requiredMember,
} from '../../json/patch/operation.ts';
import { PointerSyntaxError } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import { entryOf, type PatchNode } from './node.ts';
import { type CompiledPath, checkLength, compilePathTemplate, splitPath } from './path.ts';
import { compileNode, isConstant, type PatchPlace, type PatchValue, renderValue } from './render.ts';

/** One operation, its variables filled in on demand. `index` is its place in the author's list. */
export interface CompiledOperation {
  readonly index: number;
  resolve(scope: Scope): Operation;
}

export interface OperationRules {
  readonly names: readonly OperationName[];
  readonly allowVariablesInPath: boolean;
}

/** Reports what is wrong with the operation; undefined when anything is. */
export function compileOperation(
  node: PatchNode,
  index: number,
  place: PatchPlace,
  rules: OperationRules,
): CompiledOperation | undefined {
  // An item or an `op` that is itself a variable can only be checked once it is known.
  const op = entryOf(node, 'op');
  if (node.type === 'template' || op?.type === 'template') {
    const whole = compileNode(node, place);
    return { index, resolve: (scope) => readOperation(renderValue(whole, scope), index, rules) };
  }
  if (node.type !== 'map') return refuse(place, index, 'an operation must be a map with op and path');
  const name = op?.type === 'constant' ? op.value : undefined;
  if (!isOperationName(name) || !rules.names.includes(name)) {
    return refuse(place, index, `'op' must be one of ${rules.names.join(', ')}`);
  }
  return compileNamed(node, name, index, place, rules);
}

/** An operation whose text is known, as `resolve` of one with variables returns it. */
export function readOperation(value: Json, index: number, rules: OperationRules): Operation {
  try {
    const operation = parseOperation(value, true);
    checkLength(operation.path);
    if (operation.op === 'move' || operation.op === 'copy') checkLength(operation.from);
    if (rules.names.includes(operation.op)) return operation;
    throw new OperationSyntaxError(`'op' must be one of ${rules.names.join(', ')}`);
  } catch (error) {
    if (!(error instanceof OperationSyntaxError || error instanceof PointerSyntaxError)) throw error;
    throw new PatchApplyError(index, 'operation', '', error.message);
  }
}

function compileNamed(
  node: PatchNode,
  op: OperationName,
  index: number,
  place: PatchPlace,
  rules: OperationRules,
): CompiledOperation | undefined {
  const extra = requiredMember(op);
  const path = compilePath(node, 'path', index, place, rules);
  const from = extra === 'from' ? compilePath(node, 'from', index, place, rules) : undefined;
  const valueNode = extra === 'value' ? entryOf(node, 'value') : undefined;
  if (extra === 'value' && valueNode === undefined) refuse(place, index, `'value' is missing`);
  if (path === undefined || (extra === 'from' && from === undefined)) return undefined;
  if (extra === 'value' && valueNode === undefined) return undefined;
  const value = valueNode && compileNode(valueNode, place);
  const build = (
    read: (value: PatchValue) => Json,
    split: (path: CompiledPath) => readonly string[],
  ): Operation => {
    if (op === 'remove') return { op, path: split(path) };
    if (op === 'move' || op === 'copy') return { op, path: split(path), from: split(from as CompiledPath) };
    return { op, path: split(path), value: read(value as PatchValue) };
  };
  const parts = [path, from, value];
  if (parts.every((part) => part?.render === undefined)) {
    const operation = build(
      (known) => (isConstant(known) ? known.value : null),
      (known) => known.tokens ?? [],
    );
    return { index, resolve: () => operation };
  }
  return {
    index,
    resolve: (scope) =>
      build(
        (part) => renderValue(part, scope),
        (part) => renderAtRun(part, scope, op, index),
      ),
  };
}

function compilePath(
  node: PatchNode,
  name: 'path' | 'from',
  index: number,
  place: PatchPlace,
  rules: OperationRules,
): CompiledPath | undefined {
  const text = entryOf(node, name);
  if (text === undefined) return refuse(place, index, `'${name}' is missing`);
  if (text.type === 'template') {
    if (!rules.allowVariablesInPath) {
      place.reporter.error(
        place.path,
        'KYM_VARIABLE_FORBIDDEN',
        `operation [${index}]: '${name}' cannot hold variables here`,
        'variables in a path are allowed inside a foreach',
      );
      return undefined;
    }
  }
  try {
    if (text.type === 'template') return compilePathTemplate(text, place);
    if (text.type === 'constant' && typeof text.value === 'string') return { tokens: splitPath(text.value) };
    return refuse(place, index, `'${name}' must be a string`);
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    return refuse(place, index, `'${name}': ${error.message}`);
  }
}

function renderAtRun(path: CompiledPath, scope: Scope, op: string, index: number): readonly string[] {
  if (path.tokens !== undefined) return path.tokens;
  try {
    return path.render(scope);
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    throw new PatchApplyError(index, op, '', error.message);
  }
}

function refuse(place: PatchPlace, index: number, message: string): undefined {
  place.reporter.error(place.path, 'KYM_JSON_PATCH_INVALID', `operation [${index}]: ${message}`);
  return undefined;
}
