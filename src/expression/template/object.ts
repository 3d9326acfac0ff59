import { formatPointer } from '../../json/pointer.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { setOwn } from '../compile/member.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import type { TemplatePiece } from './piece.ts';

export interface TemplateMember {
  /** As written. */
  readonly name: string;
  readonly key: TemplatePiece;
  readonly value: TemplatePiece;
}

/** An object: what is constant in it is shared by every rendering, and members keep their order. */
export function objectPiece(
  object: JsonObject,
  members: readonly TemplateMember[],
  path: Path,
): TemplatePiece {
  if (members.some(({ key }) => key.render !== undefined)) {
    return { render: (scope) => renderMembers(members, scope, path) };
  }
  const base: Record<string, Json> = {};
  const dynamic: { readonly name: string; readonly render: (scope: Scope) => Json }[] = [];
  let changed = false;
  for (const { name, key, value } of members) {
    const newName = keyText(name, key, undefined, path);
    setOwn(base, newName, value.render === undefined ? value.value : null);
    if (value.render !== undefined) dynamic.push({ name: newName, render: value.render });
    else changed ||= newName !== name || value.value !== object[name];
  }
  if (dynamic.length === 0) return { value: changed ? base : object };
  return {
    render(scope) {
      const result = { ...base };
      for (const { name, render } of dynamic) setOwn(result, name, render(scope));
      return result;
    },
  };
}

function renderMembers(members: readonly TemplateMember[], scope: Scope, path: Path): JsonObject {
  const result: Record<string, Json> = {};
  for (const { name, key, value } of members) {
    setOwn(
      result,
      keyText(name, key, scope, path),
      value.render === undefined ? value.value : value.render(scope),
    );
  }
  return result;
}

function keyText(name: string, key: TemplatePiece, scope: Scope | undefined, path: Path): string {
  const text = key.render === undefined ? key.value : scope && key.render(scope);
  if (typeof text === 'string') return text;
  const message = `expected string after substituting variables in key ${JSON.stringify(name)} at path ${formatPointer(path)}`;
  throw new EvaluationError('KYM_EXPRESSION_FAILED', message);
}
