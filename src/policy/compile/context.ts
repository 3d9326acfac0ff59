import {
  type CompiledDynamicExpression,
  compileDynamicExpression,
} from '../../expression/dynamic-expression.ts';
import { type CompiledTemplate, compileTemplate } from '../../expression/template/template.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { read, readObject, readText } from '../../json/read-field.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { checkVariables, reservedNames, type VariableScope } from '../check/variable-scope.ts';
import type { CompiledContextEntry } from '../compiled.ts';
import { isForeign, type PolicyFacts } from '../policy-facts.ts';
import { scopeViolation } from '../policy-scope.ts';

export interface CompiledContext {
  readonly entries: readonly CompiledContextEntry[];
  /** The outer scope with the names of the entries. */
  readonly scope: VariableScope;
}

/** For compiling a string a second time, when its problems have already been reported. */
const silent: Reporter = { error: () => {}, warn: () => {} };

const entryTypes = ['variable', 'configMap', 'apiCall', 'imageRegistry', 'globalReference'] as const;
type EntryType = (typeof entryTypes)[number];

/** Compiles a list of context entries. An entry may refer to earlier entries. */
export function compileContext(
  documents: readonly JsonObject[],
  path: Path,
  reporter: Reporter,
  facts: PolicyFacts,
  outer: VariableScope,
): CompiledContext {
  const entries: CompiledContextEntry[] = [];
  const names = documents.map((document) => readText(document, 'name') ?? '');
  const lastIndexes = new Map(names.map((name, index) => [name, index]));
  // Grows with each entry: a copy per entry would take quadratic time.
  const known = new Set(outer.names);
  const scope: VariableScope = { ...outer, names: known };
  documents.forEach((document, index) => {
    const at = [...path, index];
    const name = names[index] ?? '';
    const type = checkEntry(document, name, at, reporter);
    if (type !== undefined) {
      const isLater = (other: string) => (lastIndexes.get(other) ?? -1) >= index;
      const fields = entryFields(document, name, type, at, reporter, scope, isLater);
      entries.push({
        name,
        path: at,
        ...compileEntry(type, fields, facts),
      } as unknown as CompiledContextEntry);
    }
    known.add(name);
  });
  return { entries, scope };
}

function checkEntry(
  document: JsonObject,
  name: string,
  path: Path,
  reporter: Reporter,
): EntryType | undefined {
  if (name === '') {
    reporter.error(path, 'KYM_CONTEXT_ENTRY', 'a context entry needs a name');
  }
  const reserved = reservedNames.find((word) => name === word || name.startsWith(`${word}.`));
  if (reserved !== undefined) {
    const message = `the name ${name} conflicts with the built-in variable ${reserved}`;
    reporter.error([...path, 'name'], 'KYM_CONTEXT_ENTRY', message, 'Choose another name.');
  }
  const types = entryTypes.filter((type) => readObject(document, type) !== undefined);
  if (types.length === 1) return types[0];
  const found = types.length === 0 ? 'none' : types.join(' and ');
  reporter.error(
    path,
    'KYM_CONTEXT_ENTRY',
    `a context entry needs exactly one of ${entryTypes.join(', ')}; found ${found}`,
  );
  return undefined;
}

/** The fields of one entry, compiled on demand. The variables they use are checked. */
interface EntryFields {
  readonly document: JsonObject;
  text(field: string): string | undefined;
  template(field: string): CompiledTemplate | undefined;
  /** Evaluated over the context, or over the entry's own data; then only its `{{ }}` variables read the context. */
  expression(field: string, over: 'context' | 'data'): CompiledDynamicExpression | undefined;
  fail(message: string, hint?: string, field?: string): void;
  outOfScope(field: string, message: string): void;
}

function entryFields(
  entry: JsonObject,
  name: string,
  type: EntryType,
  entryPath: Path,
  reporter: Reporter,
  scope: VariableScope,
  isNotYetDefined: (name: string) => boolean,
): EntryFields {
  const document = readObject(entry, type) ?? {};
  const path = [...entryPath, type];

  function check(roots: Iterable<string>, at: Path, value: Json): void {
    const unknown = new Set(roots);
    for (const root of unknown) {
      if (scope.names.has(root) || !isNotYetDefined(root)) continue;
      unknown.delete(root);
      const message =
        root === name
          ? `the context entry ${name} refers to itself`
          : `the context entry ${name} refers to ${root}, which is defined after it`;
      reporter.error(at, 'KYM_CONTEXT_CYCLE', message, 'An entry can use only the entries before it.');
    }
    checkVariables(unknown, scope, at, reporter, value);
  }

  return {
    document,
    text: (field) => readText(document, field),
    template(field) {
      const value = read(document, field);
      if (value === undefined) return undefined;
      const template = compileTemplate(value, [...path, field], reporter);
      check(template.roots, [...path, field], value);
      return template;
    },
    expression(field, over) {
      const text = readText(document, field);
      if (text === undefined || text === '') return undefined;
      const expression = compileDynamicExpression(text, [...path, field], reporter);
      const roots = over === 'context' ? expression.roots : compileTemplate(text, path, silent).roots;
      check(roots, [...path, field], text);
      return expression;
    },
    fail: (message, hint, field) =>
      reporter.error(field === undefined ? path : [...path, field], 'KYM_CONTEXT_ENTRY', message, hint),
    outOfScope: (field, message) => reporter.error([...path, field], 'KYM_NAMESPACE_SCOPE', message),
  };
}

function compileEntry(type: EntryType, fields: EntryFields, facts: PolicyFacts): object {
  switch (type) {
    case 'variable':
      return compileVariable(fields);
    case 'configMap':
      return compileConfigMap(fields, facts);
    case 'apiCall':
      return compileApiCall(fields, facts);
    case 'imageRegistry': {
      const credentials = readObject(fields.document, 'imageRegistryCredentials');
      return present({
        type,
        reference: fields.template('reference'),
        jmesPath: fields.expression('jmesPath', 'data'),
        credentials,
      });
    }
    case 'globalReference':
      return present({
        type,
        reference: fields.template('name'),
        jmesPath: fields.expression('jmesPath', 'data'),
      });
  }
}

function compileVariable(fields: EntryFields): object {
  const hasExpression = (fields.text('jmesPath') ?? '') !== '';
  if (!hasExpression && read(fields.document, 'value') === undefined) {
    fields.fail('a variable needs a value or a jmesPath');
  }
  if (!hasExpression && read(fields.document, 'default') !== undefined) {
    fields.fail('default requires jmesPath', undefined, 'default');
  }
  return present({
    type: 'variable',
    value: fields.template('value'),
    jmesPath: fields.expression(
      'jmesPath',
      read(fields.document, 'value') === undefined ? 'context' : 'data',
    ),
    default: fields.template('default'),
  });
}

function compileConfigMap(fields: EntryFields, facts: PolicyFacts): object {
  const namespace = fields.text('namespace') ?? '';
  if ((fields.text('name') ?? '') === '') fields.fail('a configMap entry needs the name of the ConfigMap');
  if (namespace === '' && !facts.namespaced)
    fields.fail('a configMap entry needs the namespace of the ConfigMap');
  if (isForeign(namespace, facts)) {
    fields.outOfScope('namespace', `a Policy in ${facts.namespace} cannot read a ConfigMap in ${namespace}`);
  }
  return present({
    type: 'configMap',
    objectName: fields.template('name'),
    namespace: namespace === '' ? undefined : fields.template('namespace'),
  });
}

function compileApiCall(fields: EntryFields, facts: PolicyFacts): object {
  const urlPath = fields.text('urlPath') ?? '';
  const hasService = readObject(fields.document, 'service') !== undefined;
  if (urlPath !== '' && hasService)
    fields.fail('urlPath and service cannot be used together', 'Keep one of them.');
  if (urlPath === '' && !hasService) fields.fail('an apiCall needs a urlPath or a service');
  if (urlPath !== '' && !hasVariable(urlPath)) {
    const violation = scopeViolation(facts.namespaced ? facts.namespace : undefined, {
      type: 'path',
      urlPath,
    });
    if (violation !== undefined) fields.outOfScope('urlPath', violation);
  }
  return present({
    type: 'apiCall',
    method: fields.text('method') ?? 'GET',
    urlPath: urlPath === '' ? undefined : fields.template('urlPath'),
    service: fields.template('service'),
    data: fields.template('data'),
    jmesPath: fields.expression('jmesPath', 'data'),
    default: fields.template('default'),
  });
}

function present(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
