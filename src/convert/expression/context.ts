import { readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { type Json, type JsonObject, member } from '../../json/value.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { asDyn, equalTo, literal, mapText, precedence, quote, ternary, text } from './cel-text.ts';
import { expressionTerm, templateTerm } from './template.ts';
import { classOf, definite, lenient, orElse, presentValue, type Term } from './term.ts';
import { apiRequest } from './url-path.ts';

/**
 * Translates context entries to variables. Each entry may read those before it.
 * @public
 */
export function translateContext(entries: readonly Json[], path: string, scope: Scope): Scope {
  return entries.reduce<Scope>((outer, entry, index) => {
    const at = `${path}[${index}]`;
    const document = entry as JsonObject;
    const name = readText(document, 'name') ?? '';
    const term = translateEntry(document, at, outer);
    return outer.child(new Map([[name, bindEntry(name, term, at, outer)]]));
  }, scope);
}

/**
 * A variable of the policy. An entry inside a loop depends on the element, and the conditions of a MutatingAdmissionPolicy cannot read
 * variables: there the expression itself stands for the entry.
 */
function bindEntry(name: string, term: Term, path: string, scope: Scope): CelText {
  const isInline = scope.target === 'map' || scope.lookup('element') !== undefined;
  if (isInline || term.constant !== undefined) return term;
  return { ...term, ...scope.variable(name, term, path) };
}

function translateEntry(entry: JsonObject, path: string, scope: Scope): Term {
  const variable = readObject(entry, 'variable');
  if (variable !== undefined) return translateVariable(variable, `${path}.variable`, scope);
  if (scope.target === 'map')
    throw new NotConvertible(
      path,
      'Kubernetes evaluates no expression that reads other data than the request',
    );
  const configMap = readObject(entry, 'configMap');
  if (configMap !== undefined) return translateConfigMap(configMap, `${path}.configMap`, scope);
  const apiCall = readObject(entry, 'apiCall');
  if (apiCall !== undefined) return translateApiCall(apiCall, `${path}.apiCall`, scope);
  const registry = readObject(entry, 'imageRegistry');
  if (registry !== undefined) return translateRegistry(registry, `${path}.imageRegistry`, scope);
  const reference = readObject(entry, 'globalReference');
  if (reference !== undefined) {
    const name = templateTerm(member(reference, 'name') ?? null, `${path}.globalReference.name`, scope);
    const data = definite(text(`globalContext.Get(${name.source}, '')`, 'dyn'), { total: false });
    return project(data, reference, `${path}.globalReference`, scope);
  }
  throw new NotConvertible(path, 'the entry has no known type');
}

/** The value that must exist: null is an error. */
function required(term: Term): Term {
  if (term.optional === undefined) return term;
  if (term.missing === 'error' && term.guarded === undefined) return { ...term, optional: undefined };
  return {
    ...term,
    ...text(presentValue(term.optional), 'dyn'),
    optional: undefined,
    guarded: undefined,
    total: false,
  };
}

/** A value, or an expression over it or over the request; null and failures give the default, without which they are an error. */
function translateVariable(variable: JsonObject, path: string, scope: Scope): Term {
  const given = member(variable, 'value');
  const source = readText(variable, 'jmesPath') ?? '';
  const value = given === undefined ? undefined : templateTerm(given, `${path}.value`, scope);
  if (source === '') {
    if (value === undefined)
      throw new NotConvertible(path, 'the variable has neither a value nor an expression');
    return required(value);
  }
  const term = expressionTerm(
    source,
    `${path}.jmesPath`,
    scope,
    value === undefined ? undefined : required(value),
  );
  const fallback = member(variable, 'default') ?? null;
  if (fallback === null) return required(term);
  const other = templateTerm(fallback, `${path}.default`, scope);
  return withDefault(term, other, path);
}

function withDefault(term: Term, fallback: Term, path: string): Term {
  if (term.optional === undefined && term.total !== true) {
    throw new NotConvertible(
      path,
      'the default stands for the failure of a function, which CEL cannot catch',
    );
  }
  const kind = classOf(term);
  const schema = classOf(fallback) === kind ? term.schema : undefined;
  if (term.optional === undefined && kind !== 'unknown') return term;
  if (term.optional !== undefined && kind !== 'unknown') {
    return definite(text(orElse(term.optional, fallback), 'dyn'), {
      schema,
      total: fallback.total,
    });
  }
  const found = lenient(term);
  return definite(ternary(equalTo(found, text('null', 'null')), fallback, asDyn(found)), {
    total: fallback.total,
  });
}

/** The expression of an entry over its data; a missing key is an error. */
function project(data: Term, entry: JsonObject, path: string, scope: Scope): Term {
  const source = readText(entry, 'jmesPath') ?? '';
  return source === '' ? data : required(expressionTerm(source, `${path}.jmesPath`, scope, data));
}

function translateConfigMap(entry: JsonObject, path: string, scope: Scope): Term {
  const name = templateTerm(member(entry, 'name') ?? null, `${path}.name`, scope);
  const namespace = templateTerm(member(entry, 'namespace') ?? null, `${path}.namespace`, scope);
  if (namespace.constant === null) throw new NotConvertible(path, 'the ConfigMap has no namespace');
  const source = `resource.Get('v1', 'configmaps', ${namespace.source}, ${name.source})`;
  return definite(text(source, 'dyn'), { schema: builtInSchema('v1', 'ConfigMap'), total: false });
}

function translateApiCall(entry: JsonObject, path: string, scope: Scope): Term {
  const method = readText(entry, 'method') ?? 'GET';
  const service = readObject(entry, 'service');
  const fallback = member(entry, 'default');
  if (service !== undefined) {
    if (fallback !== undefined)
      throw new NotConvertible(`${path}.default`, 'CEL cannot catch the failure of a call');
    return project(translateService(entry, service, method, path, scope), entry, path, scope);
  }
  if (method !== 'GET')
    throw new NotConvertible(
      `${path}.method`,
      `the call of the API server with ${method} has no exact counterpart`,
    );
  const request = apiRequest(readText(entry, 'urlPath') ?? '', `${path}.urlPath`, scope);
  const data = definite(text(request.source, 'dyn'), { schema: request.schema, total: false });
  if (fallback === undefined) return project(data, entry, path, scope);
  if (!request.isGet)
    throw new NotConvertible(`${path}.default`, 'a list that does not exist is empty in CEL');
  const other = templateTerm(fallback, `${path}.default`, scope);
  const found = equalTo(asDyn({ ...data, type: 'map' }), text('null', 'null'));
  return definite(
    ternary(found, asDyn(other), asDyn({ ...project(data, entry, path, scope), type: 'map' })),
    { total: false },
  );
}

function translateService(
  entry: JsonObject,
  service: JsonObject,
  method: string,
  path: string,
  scope: Scope,
): Term {
  const at = `${path}.service`;
  const url = templateTerm(member(service, 'url') ?? null, `${at}.url`, scope);
  const headers = readObjects(service, 'headers').map((header, index) => ({
    key: text(quote(readText(header, 'key') ?? ''), 'string'),
    value: templateTerm(member(header, 'value') ?? null, `${at}.headers[${index}].value`, scope),
  }));
  const bundle = readText(service, 'caBundle');
  const client = bundle === undefined ? 'http' : `http.Client(${literal(bundle, at).source})`;
  const named = headers.length === 0 ? '' : `, ${mapText(headers).source}`;
  if (method === 'GET' && readList(entry, 'data').length === 0) {
    return definite(text(`${client}.Get(${url.source}${named})`, 'dyn'), { total: false });
  }
  const body = mapText(
    readObjects(entry, 'data').map((item, index) => ({
      key: text(quote(readText(item, 'key') ?? ''), 'string'),
      value: asDyn(templateTerm(member(item, 'value') ?? null, `${path}.data[${index}].value`, scope)),
    })),
  );
  if (method !== 'POST')
    throw new NotConvertible(`${path}.method`, `CEL has no call with ${method} and data`);
  return definite(text(`${client}.Post(${url.source}, ${body.source}${named})`, 'dyn', precedence.primary), {
    total: false,
  });
}

/** The fields that the image data has in both languages. */
const imageFields = /^(?:image|resolvedImage|registry|repository|identifier)$/;

function translateRegistry(entry: JsonObject, path: string, scope: Scope): Term {
  if (readObject(entry, 'imageRegistryCredentials') !== undefined) {
    throw new NotConvertible(
      `${path}.imageRegistryCredentials`,
      'CEL policies have no credentials of their own',
    );
  }
  const source = readText(entry, 'jmesPath') ?? '';
  if (source !== '' && !imageFields.test(source)) {
    throw new NotConvertible(`${path}.jmesPath`, 'the configuration of an image has another form in CEL');
  }
  const reference = templateTerm(member(entry, 'reference') ?? null, `${path}.reference`, scope);
  const data = definite(text(`image.GetMetadata(${reference.source})`, 'dyn'), { total: false });
  return project(data, entry, path, scope);
}
