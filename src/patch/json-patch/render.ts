import { emptyScope, type Scope } from '../../expression/scope.ts';
import { compileTemplateText, type TemplateOptions } from '../../expression/template/template.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { spendBytes, spendSize, spendSteps } from '../../json/budget.ts';
import { assignMember } from '../../json/edit.ts';
import { jsonText, tryParseJson } from '../../json/json-text.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { yamlDepthBound } from '../../yaml/depth.ts';
import { resolveYamlScalar } from '../../yaml/scalar.ts';
import type { PatchNode, PatchTemplate } from './node.ts';
import { deepestText } from './text.ts';

/** The location of the patch in the policy, and the options of its templates. */
export interface PatchLocation {
  readonly path: Path;
  readonly reporter: Reporter;
  readonly options: TemplateOptions;
  /** Collects the root names that the variables read. */
  readonly roots: Set<string>;
}

/** A constant value, or one that is rendered for each request. */
export type PatchValue =
  | { readonly value: Json; readonly render?: undefined }
  | { readonly render: (scope: Scope) => Json };

export function compileNode(node: PatchNode, location: PatchLocation): PatchValue {
  switch (node.type) {
    case 'constant':
      return { value: node.value };
    case 'template':
      return compilePatchTemplate(node, location);
    case 'list':
      return compileList(node.items, location);
    case 'map':
      return compileMap(node.entries, location);
  }
}

/** Always a string: paths, keys, quoted scalars. A value that is not a string is inserted as JSON. */
export function compileAsText(node: PatchTemplate, location: PatchLocation): PatchValue {
  return compilePatchTemplate({ ...node, reading: 'text' }, location);
}

function compilePatchTemplate(node: PatchTemplate, location: PatchLocation): PatchValue {
  const template = compileTemplateText(node.text, location.path, location.reporter, location.options);
  for (const root of template.roots) location.roots.add(root);
  const read = readers[node.reading](node.text);
  if (!template.constant) return { render: (scope) => read(template.render(scope)) };
  // Without variables, rendering only unescapes `\{{`.
  return { value: read(template.render(emptyScope)) };
}

type Reader = (value: Json) => Json;

const readers: Readonly<Record<PatchTemplate['reading'], (text: string) => Reader>> = {
  typed: () => (value) => value,
  text: () => (value) => {
    if (typeof value === 'string') return value;
    spendSize(value);
    return jsonText(value);
  },
  plain: (text) => (isOneVariable(text) ? readPlainVariable : readPlainText),
};

function isOneVariable(text: string): boolean {
  const [token] = findVariables(text);
  return token !== undefined && token.start === 0 && token.end === text.length;
}

/** `value: {{ x }}`: a string is parsed as a YAML scalar or as JSON, and never as more than one value. */
function readPlainVariable(value: Json): Json {
  if (typeof value !== 'string') return value;
  const first = value.trimStart().charAt(0);
  return first === '{' || first === '[' ? (parseShallowJson(value) ?? value) : readPlainText(value);
}

function readPlainText(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return resolveYamlScalar(value.trim());
  } catch {
    return value;
  }
}

function parseShallowJson(text: string): Json | undefined {
  spendSteps(text.length);
  spendBytes(text.length * 14);
  if (yamlDepthBound(text) > deepestText) return undefined;
  return tryParseJson(text);
}

function compileList(items: readonly PatchNode[], location: PatchLocation): PatchValue {
  const values = items.map((item) => compileNode(item, location));
  if (values.every(isConstant)) return { value: values.map(({ value }) => value) };
  return { render: (scope) => values.map((value) => renderValue(value, scope)) };
}

function compileMap(
  entries: readonly { readonly key: PatchNode; readonly value: PatchNode }[],
  location: PatchLocation,
): PatchValue {
  const members = entries.map(({ key, value }) => ({
    key: compileNode(key, location),
    value: compileNode(value, location),
  }));
  const build = (read: (value: PatchValue) => Json) =>
    // fromEntries defines own members, so `__proto__` is a key like any other.
    Object.fromEntries(members.map(({ key, value }) => [String(read(key)), read(value)]));
  if (members.every(({ key, value }) => isConstant(key) && isConstant(value))) {
    return { value: build((value) => (isConstant(value) ? value.value : null)) };
  }
  if (!members.every(({ key }) => isConstant(key))) {
    return { render: (scope) => build((value) => renderValue(value, scope)) };
  }
  const named = members.map(({ key, value }) => ({ name: isConstant(key) ? String(key.value) : '', value }));
  return {
    render(scope) {
      const object: Record<string, Json> = {};
      for (const { name, value } of named) assignMember(object, name, renderValue(value, scope));
      return object;
    },
  };
}

export function isConstant(value: PatchValue): value is { readonly value: Json } {
  return value.render === undefined;
}

export function renderValue(value: PatchValue, scope: Scope): Json {
  return value.render === undefined ? value.value : value.render(scope);
}
