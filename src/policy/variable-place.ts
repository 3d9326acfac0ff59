import { compileTemplate } from '../expression/template.ts';
import { hasVariable } from '../expression/template-tokens.ts';
import { isArray, isObject, type Json, type Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';

const unheard: Reporter = { error: () => {}, warn: () => {} };

/** Where below `path` the variable is used first; `path` itself when it cannot be told. */
export function placeOfVariable(name: string, value: Json, path: Path): Path {
  return findUse(name, value, path) ?? path;
}

function findUse(name: string, value: Json, path: Path): Path | undefined {
  if (typeof value === 'string') return uses(name, value) ? path : undefined;
  const entries = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  for (const [token, item] of entries) {
    const at = [...path, token];
    if (typeof token === 'string' && uses(name, token)) return at;
    const found = findUse(name, item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function uses(name: string, text: string): boolean {
  return hasVariable(text) && compileTemplate(text, [], unheard).roots.has(name);
}
