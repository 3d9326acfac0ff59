import { emptyScope, type Scope } from '../../expression/scope.ts';
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
import { compileNode, type PatchLocation, type PatchValue, renderValue } from './render.ts';

/** One operation, whose variables are substituted on demand. `index` is its position in the author's list. */
export interface CompiledOperation {
  readonly index: number;
  /** Whether it has no variables, so that it resolves to the same object each time. */
  readonly isConstant: boolean;
  resolve(scope: Scope): Operation;
}

export interface OperationRules {
  readonly names: readonly OperationName[];
  readonly allowVariablesInPath: boolean;
}

/** Returns undefined after reporting a problem. */
export function compileOperation(
  node: PatchNode,
  index: number,
  location: PatchLocation,
  rules: OperationRules,
): CompiledOperation | undefined {
  // An item or an `op` that is a variable is checked at evaluation.
  const op = entryOf(node, 'op');
  if (node.type === 'template' || op?.type === 'template') {
    const whole = compileNode(node, location);
    return {
      index,
      isConstant: false,
      resolve: (scope) => readOperation(renderValue(whole, scope), index, rules),
    };
  }
  if (node.type !== 'map') return refuse(location, index, 'an operation must be a map with op and path');
  const name = op?.type === 'constant' ? op.value : undefined;
  if (!isOperationName(name) || !rules.names.includes(name)) {
    return refuse(location, index, `'op' must be one of ${rules.names.join(', ')}`);
  }
  return compileNamed(node, name, index, location, rules);
}

/** A rendered operation. */
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
  location: PatchLocation,
  rules: OperationRules,
): CompiledOperation | undefined {
  const extra = requiredMember(op);
  const path = compilePath(node, 'path', index, location, rules);
  const from = extra === 'from' ? compilePath(node, 'from', index, location, rules) : undefined;
  const valueNode = extra === 'value' ? entryOf(node, 'value') : undefined;
  if (extra === 'value' && valueNode === undefined) refuse(location, index, `'value' is missing`);
  if (path === undefined || (extra === 'from' && from === undefined)) return undefined;
  if (extra === 'value' && valueNode === undefined) return undefined;
  const value = valueNode && compileNode(valueNode, location);
  const resolve = (scope: Scope): Operation => {
    const tokens = renderPath(path, scope, op, index);
    if (op === 'remove') return { op, path: tokens };
    if (op !== 'move' && op !== 'copy')
      return { op, path: tokens, value: renderValue(value as PatchValue, scope) };
    return { op, path: tokens, from: renderPath(from as CompiledPath, scope, op, index) };
  };
  if ([path, from, value].some((part) => part?.render !== undefined)) {
    return { index, isConstant: false, resolve };
  }
  const operation = resolve(emptyScope);
  return { index, isConstant: true, resolve: () => operation };
}

function compilePath(
  node: PatchNode,
  name: 'path' | 'from',
  index: number,
  location: PatchLocation,
  rules: OperationRules,
): CompiledPath | undefined {
  const text = entryOf(node, name);
  if (text === undefined) return refuse(location, index, `'${name}' is missing`);
  if (text.type === 'template') {
    if (!rules.allowVariablesInPath) {
      location.reporter.error(
        location.path,
        'KYM_VARIABLE_FORBIDDEN',
        `operation [${index}]: '${name}' cannot contain variables here`,
        'variables in a path are allowed inside a foreach',
      );
      return undefined;
    }
  }
  try {
    if (text.type === 'template') return compilePathTemplate(text, location);
    if (text.type === 'constant' && typeof text.value === 'string') return { tokens: splitPath(text.value) };
    return refuse(location, index, `'${name}' must be a string`);
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    return refuse(location, index, `'${name}': ${error.message}`);
  }
}

function renderPath(path: CompiledPath, scope: Scope, op: string, index: number): readonly string[] {
  if (path.tokens !== undefined) return path.tokens;
  try {
    return path.render(scope);
  } catch (error) {
    if (!(error instanceof PointerSyntaxError)) throw error;
    throw new PatchApplyError(index, op, '', error.message);
  }
}

function refuse(location: PatchLocation, index: number, message: string): undefined {
  location.reporter.error(location.path, 'KYM_JSON_PATCH_INVALID', `operation [${index}]: ${message}`);
  return undefined;
}
