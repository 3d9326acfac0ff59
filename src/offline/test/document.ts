import { didYouMean } from '../../expression/did-you-mean.ts';
import { type Environment, untilReady } from '../../expression/scope.ts';
import { generousLimits } from '../../json/budget.ts';
import { formatPointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Operation, PolicyKind } from '../../policy/compiled.ts';
import type { SourceDocument } from '../../policy/documents.ts';
import type { Problem } from '../../problem.ts';
import { mockedGlobalContext } from '../global-context-mock.ts';

/** A Test document: policies, resources and expected results. */
export interface TestDocument {
  readonly name: string;
  readonly file: string;
  readonly policies: readonly string[];
  readonly resources: readonly string[];
  /** Existing objects: context data, targets. */
  readonly otherResources: readonly string[];
  readonly exceptions: readonly string[];
  readonly valuesFile?: string | undefined;
  readonly values?: JsonObject | undefined;
  readonly userInfoFile?: string | undefined;
  readonly apiCalls: ReadonlyMap<string, { readonly status: number; readonly body: Json }>;
  readonly globalReferences: ReadonlyMap<string, Json>;
  /** Data of images by reference. Kyverno has no field for it. */
  readonly images: ReadonlyMap<string, Json>;
  readonly results: readonly TestResult[];
}

export interface TestResult {
  readonly line: number;
  readonly policy: string;
  /** Set by `isMutatingPolicy` and `isMutatingAdmissionPolicy`, for names that policies of several kinds have. */
  readonly policyKinds?: readonly PolicyKind[] | undefined;
  /** Empty: every rule of the policy. */
  readonly rule: string;
  /** Empty: every resource. */
  readonly resources: readonly ResourceReference[];
  readonly kind: string;
  readonly patchedResources?: string | undefined;
  /** Files with objects that a generate rule clones. */
  readonly cloneSources: readonly string[];
  /** Files with the objects that a generate rule creates. */
  readonly generatedResources: readonly string[];
  readonly result: string;
  readonly operation?: Operation | undefined;
}

export interface ResourceReference {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

const statuses = new Set(['pass', 'fail', 'skip', 'warn', 'error']);
const operations = new Set(['CREATE', 'UPDATE', 'DELETE']);

/** Fields of a Test document; others are ignored unless they look like one of these. */
const testFields = [
  'apiVersion',
  'kind',
  'metadata',
  'name',
  'policies',
  'resources',
  'targetResources',
  'clusterResources',
  'crds',
  'exceptions',
  'variables',
  'values',
  'userinfo',
  'apiCallResponses',
  'globalContextEntries',
  'imageData',
  'results',
  'checks',
];

/** Also `policies` for `policy`. */
function similarField(key: string): string | undefined {
  const stem = key.slice(0, -1);
  return didYouMean(key, testFields) ?? testFields.find((field) => stem.length > 3 && field.startsWith(stem));
}

/** Reads a Test document; older spellings are accepted with a warning. Undefined when there was an error. */
export async function parseTest(
  source: SourceDocument,
  environment: Environment,
): Promise<{ test: TestDocument | undefined; problems: Problem[] }> {
  const { value: document, file } = source;
  const problems: Problem[] = [];
  const report = (severity: Problem['severity'], path: Path, message: string) => {
    problems.push({
      code: 'KYM_TEST_INVALID',
      severity,
      message,
      pointer: formatPointer(path),
      file,
      ...source.positionOf(path),
    });
  };
  const read = createReader(report);

  if (member(document, 'kind') === undefined)
    report('warning', [], 'apiVersion and kind are missing: assuming a Test of cli.kyverno.io/v1alpha1');
  else if (document['kind'] !== 'Test')
    report('error', ['kind'], `kind is ${String(document['kind'])}, not Test`);
  for (const key of Object.keys(document)) {
    const similar = testFields.includes(key) ? undefined : similarField(key);
    if (similar !== undefined) report('error', [key], `a test has no field ${key}: did you mean ${similar}?`);
  }
  const metadata = isObject(document['metadata']) ? document['metadata'] : {};
  if (member(document, 'name') !== undefined)
    report('warning', ['name'], 'a top-level name is deprecated: use metadata.name');
  const values = member(document, 'values') ?? null;
  const valuesFile = read.text(document, [], 'variables');
  const userInfoFile = read.text(document, [], 'userinfo');
  const results = read
    .list(document, [], 'results')
    .flatMap((entry, index) => parseResult(entry, ['results', index], source, read, report));
  if (results.length === 0) report('error', [], 'the test has no results to check');
  const test: TestDocument = {
    name: read.text(metadata, ['metadata'], 'name') ?? read.text(document, [], 'name') ?? '',
    file,
    policies: read.texts(document, [], 'policies'),
    resources: read.texts(document, [], 'resources'),
    otherResources: [
      ...read.texts(document, [], 'targetResources'),
      ...read.texts(document, [], 'clusterResources'),
      ...read.texts(document, [], 'crds'),
    ],
    exceptions: read.texts(document, [], 'exceptions'),
    valuesFile,
    ...(isObject(values) ? { values } : {}),
    userInfoFile,
    apiCalls: apiCalls(document, read),
    globalReferences: await globalReferences(document, environment, read, report),
    images: images(document, read, report),
    results,
  };
  const isBroken = problems.some((problem) => problem.severity === 'error');
  return { test: isBroken ? undefined : test, problems };
}

type Report = (severity: Problem['severity'], path: Path, message: string) => void;
type Reader = ReturnType<typeof createReader>;

function parseResult(
  entry: JsonObject,
  path: Path,
  source: SourceDocument,
  read: Reader,
  report: Report,
): TestResult[] {
  const old = (key: string, now: string) => {
    const value = read.text(entry, path, key);
    if (value !== undefined) report('warning', [...path, key], `${key} is deprecated: use ${now}`);
    return value;
  };
  const policy = read.text(entry, path, 'policy');
  if (policy === undefined) report('error', path, 'policy is missing');
  const result = read.text(entry, path, 'result') ?? old('status', 'result') ?? '';
  if (!statuses.has(result)) report('error', path, 'result must be pass, fail, skip, warn or error');
  const operation = read.text(entry, path, 'operation');
  if (operation !== undefined && !operations.has(operation))
    report('error', [...path, 'operation'], 'operation must be CREATE, UPDATE or DELETE');
  const single = old('resource', 'resources');
  const namespace = old('namespace', 'namespace/name in resources');
  const patchedResources =
    read.text(entry, path, 'patchedResources') ?? old('patchedResource', 'patchedResources');
  const generated = read.text(entry, path, 'generatedResource');
  const cloned = read.text(entry, path, 'cloneSourceResource');
  const names = [...read.texts(entry, path, 'resources'), ...(single === undefined ? [] : [single])];
  return [
    {
      line: source.positionOf(path).line,
      policy: policy ?? '',
      policyKinds: policyKindsOf(entry),
      rule: read.text(entry, path, 'rule') ?? '',
      resources: [
        ...names.map((name) => referenceOf(name, namespace)),
        ...read.list(entry, path, 'resourceSpecs').map(referenceOfSpec),
      ],
      kind: read.text(entry, path, 'kind') ?? '',
      patchedResources,
      cloneSources: cloned === undefined ? [] : [cloned],
      generatedResources: [
        ...read.texts(entry, path, 'generatedResources'),
        ...(generated === undefined ? [] : [generated]),
      ],
      result,
      ...(operation === undefined ? {} : { operation: operation as Operation }),
    },
  ];
}

function policyKindsOf(entry: JsonObject): readonly PolicyKind[] | undefined {
  if (entry['isMutatingPolicy'] === true) return ['MutatingPolicy', 'NamespacedMutatingPolicy'];
  return entry['isMutatingAdmissionPolicy'] === true ? ['MutatingAdmissionPolicy'] : undefined;
}

function referenceOf(text: string, namespace: string | undefined): ResourceReference {
  const slash = text.indexOf('/');
  if (slash >= 0) return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
  return namespace === undefined ? { name: text } : { namespace, name: text };
}

function referenceOfSpec(spec: JsonObject): ResourceReference {
  const text = (key: string) => (typeof spec[key] === 'string' ? spec[key] : '');
  const group = text('group');
  const version = text('version');
  return {
    name: text('name'),
    ...(text('namespace') === '' ? {} : { namespace: text('namespace') }),
    ...(version === '' ? {} : { apiVersion: group === '' ? version : `${group}/${version}` }),
    ...(text('kind') === '' ? {} : { kind: text('kind') }),
  };
}

function apiCalls(document: JsonObject, read: Reader): TestDocument['apiCalls'] {
  const calls = new Map<string, { status: number; body: Json }>();
  for (const entry of read.list(document, [], 'apiCallResponses')) {
    const url = String(entry['urlPath'] ?? entry['url'] ?? '');
    const method =
      typeof entry['method'] === 'string' && entry['method'] !== ''
        ? `${entry['method'].toUpperCase()} `
        : '';
    const response = isObject(entry['response']) ? entry['response'] : {};
    const status =
      typeof response['statusCode'] === 'number' && response['statusCode'] !== 0
        ? response['statusCode']
        : 200;
    calls.set(method + url, { status, body: response['body'] ?? null });
  }
  return calls;
}

async function globalReferences(
  document: JsonObject,
  environment: Environment,
  read: Reader,
  report: Report,
): Promise<TestDocument['globalReferences']> {
  const references = new Map<string, Json>();
  for (const [index, entry] of read.list(document, [], 'globalContextEntries').entries()) {
    try {
      references.set(
        String(entry['name']),
        await untilReady(() => mockedGlobalContext(entry, environment), generousLimits),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report('error', ['globalContextEntries', index], reason);
    }
  }
  return references;
}

function images(document: JsonObject, read: Reader, report: Report): TestDocument['images'] {
  const found = new Map<string, Json>();
  for (const [index, entry] of read.list(document, [], 'imageData').entries()) {
    const path = ['imageData', index];
    const image = read.text(entry, path, 'image');
    const data = member(entry, 'data');
    if (image === undefined) report('error', path, 'image must be the reference as the policy reads it');
    else if (!isObject(data))
      report('error', path, 'data must be a map, such as {configData: {config: {User: root}}}');
    else found.set(image, data);
  }
  return found;
}

/** Reads typed members; null counts as absent. */
function createReader(report: Report) {
  const wrong = (path: Path, key: string, wanted: string) =>
    report('error', [...path, key], `${key} must be ${wanted}`);
  return {
    text(object: JsonObject, path: Path, key: string): string | undefined {
      const value = member(object, key) ?? null;
      if (value === null || value === '') return undefined;
      if (typeof value === 'string') return value;
      wrong(path, key, 'a string');
      return undefined;
    },
    texts(object: JsonObject, path: Path, key: string): readonly string[] {
      const value = member(object, key) ?? null;
      if (isArray(value) && value.every((item) => typeof item === 'string'))
        return value as readonly string[];
      if (value !== null) wrong(path, key, 'a list of strings');
      return [];
    },
    list(object: JsonObject, path: Path, key: string): readonly JsonObject[] {
      const value = member(object, key) ?? null;
      if (isArray(value) && value.every((item) => isObject(item))) return value as readonly JsonObject[];
      if (value !== null) wrong(path, key, 'a list of maps');
      return [];
    },
  };
}
