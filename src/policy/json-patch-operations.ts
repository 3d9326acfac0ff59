import { parse } from 'yaml';
import { findVariables } from '../expression/template-tokens.ts';
import { parsePointer } from '../json/pointer.ts';
import { isArray, isObject, type Json, member } from '../json/value.ts';

/** An operation as far as it can be known before variables have values. */
export interface StaticOperation {
  readonly op: string;
  readonly path: string;
  /** The path from the root; undefined when it depends on variables or is no pointer. */
  readonly tokens: readonly string[] | undefined;
  /** Undefined when absent or dependent on variables. */
  readonly value: Json | undefined;
  readonly pathHasVariables: boolean;
}

const placeholder = 'kymera-variable';

/** Undefined when the text is no list of operations; whoever compiles the patch says why. */
export function readOperations(text: string): readonly StaticOperation[] | undefined {
  let parsed: Json;
  try {
    parsed = parse(withoutVariables(text), { logLevel: 'silent', maxAliasCount: 100 }) as Json;
  } catch {
    return undefined;
  }
  return isArray(parsed) ? parsed.map(toOperation) : undefined;
}

function withoutVariables(text: string): string {
  let result = '';
  let end = 0;
  for (const variable of findVariables(text)) {
    result += text.slice(end, variable.start) + placeholder;
    end = variable.end;
  }
  return result + text.slice(end);
}

function toOperation(value: Json): StaticOperation {
  const operation = isObject(value) ? value : {};
  const path = member(operation, 'path');
  const pathText = typeof path === 'string' ? path : '';
  const pathHasVariables = pathText.includes(placeholder);
  const content = member(operation, 'value');
  const dependsOnVariables = content !== undefined && JSON.stringify(content).includes(placeholder);
  return {
    op: String(member(operation, 'op') ?? ''),
    path: pathText,
    tokens: pathHasVariables || !pathText.startsWith('/') ? undefined : parsePointer(pathText),
    value: dependsOnVariables ? undefined : content,
    pathHasVariables,
  };
}
