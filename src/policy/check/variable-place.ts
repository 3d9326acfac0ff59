import { compileTemplate } from '../../expression/template/template.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

const unheard: Reporter = { error: () => {}, warn: () => {} };

/** Where a variable is used. */
export interface VariableUse {
  readonly path: Path;
  /** In an expression that calls a function: a function reads what is not there as null. */
  readonly inCall: boolean;
}

/** The first use below `path`, one outside function calls before others; `path` itself when it cannot be told. */
export function findVariableUse(name: string, value: Json, path: Path): VariableUse {
  const uses = [...usesOf(name, value, path)];
  return uses.find(({ inCall }) => !inCall) ?? uses[0] ?? { path, inCall: false };
}

function* usesOf(name: string, value: Json, path: Path): Generator<VariableUse> {
  if (typeof value === 'string') yield* usesInText(name, value, path);
  const entries = isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : [];
  for (const [token, item] of entries) {
    const at = [...path, token];
    if (typeof token === 'string') yield* usesInText(name, token, at);
    yield* usesOf(name, item, at);
  }
}

function* usesInText(name: string, text: string, path: Path): Generator<VariableUse> {
  for (const { start, end, expression } of findVariables(text)) {
    const { roots } = compileTemplate(text.slice(start, end), [], unheard);
    if (roots.has(name)) yield { path, inCall: functionCall.test(expression) };
  }
}

const functionCall = /[a-z_0-9]\(/;
