import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { requestFor } from '../../src/admission/resource-request.ts';
import type { DataSource } from '../../src/engine/context/data-source.ts';
import { mutate } from '../../src/engine/mutate.ts';
import type { Result } from '../../src/engine/outcome.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { createInputDataSource } from '../../src/offline/data-source.ts';
import { parseUserInfo } from '../../src/offline/user-info.ts';
import { loadCelCompilers } from '../../src/policy/cel-documents.ts';
import type { Operation } from '../../src/policy/compiled.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import { createSnapshot } from '../../src/policy/registry/registry.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import { differences } from './compare.ts';

/** What the real engine gave for a policy and an object. */
export interface CelCase {
  readonly id: string;
  readonly policies: readonly JsonObject[];
  readonly resource?: JsonObject;
  readonly oldObject?: JsonObject;
  readonly operation?: Operation;
  readonly subresource?: string;
  readonly userInfo?: JsonObject;
  /** Labels of the namespace of the request, besides its name. */
  readonly namespaceLabels?: JsonObject;
  /** `unknown` when the engine knows nothing about the namespace. */
  readonly namespaceObject?: 'unknown';
  readonly exceptions?: readonly JsonObject[];
  /** Objects that `resource.Get` and `resource.List` find. */
  readonly objects?: readonly JsonObject[];
  readonly globalContext?: JsonObject;
  /** By URL. */
  readonly httpMocks?: JsonObject;
  /** Image data by reference. */
  readonly images?: JsonObject;
  readonly expect: CelExpectation;
  /** What Kymera does on purpose instead; the real result is what `--strict-compat` gives. */
  readonly differs?: { readonly why: string; readonly expect: CelExpectation };
}

export interface CelExpectation {
  readonly outcome: 'mutated' | 'unchanged' | 'skipped' | 'not-matched' | 'exempted' | 'error' | 'refused';
  /** The text of the real engine, for the reader. */
  readonly message?: string;
  /** A part of our message. */
  readonly says?: string;
  readonly object?: JsonObject;
}

export function readCelCases(
  folder: string,
): readonly { readonly topic: string; readonly cases: readonly CelCase[] }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => {
      const document = parseYamlText(readFileSync(join(folder, name), 'utf8')) as unknown as {
        cases: CelCase[];
      };
      return { topic: name.replace('.yaml', ''), cases: document.cases };
    });
}

/** What is wrong, one line each; empty when the case gives what it should, in both modes. */
export async function celFailures(testCase: CelCase): Promise<readonly string[]> {
  const plain = await compare(testCase, testCase.differs?.expect ?? testCase.expect, false);
  if (testCase.differs === undefined) return plain;
  const strict = await compare(testCase, testCase.expect, true);
  return [...plain, ...strict.map((line) => `--strict-compat: ${line}`)];
}

async function compare(
  testCase: CelCase,
  expected: CelExpectation,
  strictCompat: boolean,
): Promise<readonly string[]> {
  const actual = await runCelCase(testCase, strictCompat);
  const found: string[] = [];
  if (actual.outcome !== expected.outcome) {
    found.push(
      `outcome: expected ${expected.outcome}, got ${actual.outcome} (${actual.messages.join('; ')})`,
    );
  }
  if (
    expected.says !== undefined &&
    !actual.messages.some((message) => message.includes(expected.says ?? ''))
  ) {
    found.push(`message: expected …${expected.says}…, got ${actual.messages.join('; ')}`);
  }
  if (expected.object !== undefined) {
    found.push(...differences(expected.object, actual.object ?? null, 'ordered'));
  }
  return found;
}

interface Actual {
  readonly outcome: CelExpectation['outcome'];
  readonly messages: readonly string[];
  readonly object?: JsonObject | null;
}

const environment = {
  now: () => new Date('2026-01-01T00:00:00Z'),
  random: () => 0.5,
  gzip: {
    compress: (data: Uint8Array) => gzipSync(data),
    decompress: (data: Uint8Array) => gunzipSync(data),
  },
};

export async function runCelCase(testCase: CelCase, strictCompat: boolean): Promise<Actual> {
  const documents = [...testCase.policies, ...(testCase.exceptions ?? [])];
  const files = documents.map((document, index) => ({
    file: `${index}.json`,
    text: JSON.stringify(document),
  }));
  const loaded = loadDocuments(files, { cel: await loadCelCompilers(), strictCompat });
  const errors = loaded.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return { outcome: 'refused', messages: errors.map(({ message }) => message) };
  const object = testCase.resource ?? testCase.oldObject ?? {};
  const request = requestFor(object, {
    operation: testCase.operation,
    oldObject: testCase.oldObject,
    subresource: testCase.subresource,
    user:
      testCase.userInfo === undefined
        ? undefined
        : parseUserInfo({ kind: 'UserInfo', userInfo: testCase.userInfo }, ''),
  });
  const namespace = request.namespace;
  const source = createInputDataSource(testCase.objects ?? [], environment, {
    namespaces: new Map(
      testCase.namespaceLabels === undefined
        ? []
        : [[namespace, { 'kubernetes.io/metadata.name': namespace, ...testCase.namespaceLabels }]],
    ),
    apiCalls: mapOf(testCase.httpMocks, (body) => ({ status: 200, body })),
    globalReferences: mapOf(testCase.globalContext, (value) => value),
    images: mapOf(testCase.images, (value) => value),
  });
  const dataSource: DataSource = {
    read: (query) =>
      testCase.namespaceObject === 'unknown' && query.type === 'namespaceLabels'
        ? { found: false, error: 'unknown' }
        : source.read(query),
  };
  const snapshot = createSnapshot(loaded.policies, loaded.exceptions, { order: 'given' });
  return actualOf(await mutate(request, snapshot, { dataSource, environment }), object);
}

function mapOf<T>(object: JsonObject | undefined, change: (value: Json) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(object ?? {}).map(([key, value]) => [key, change(value)]));
}

function actualOf({ outcomes, object }: Result, before: JsonObject): Actual {
  const messages = outcomes.map(({ message }) => message);
  const has = (test: (outcome: (typeof outcomes)[number]) => boolean): boolean => outcomes.some(test);
  const outcome = has(({ status }) => status === 'failed')
    ? 'error'
    : object !== before && isObject(object)
      ? 'mutated'
      : has(({ status }) => status === 'applied' || status === 'unchanged')
        ? 'unchanged'
        : has((one) => one.status === 'skipped' && one.reason.type === 'exception')
          ? 'exempted'
          : outcomes.length > 0
            ? 'skipped'
            : 'not-matched';
  return { outcome, messages, object };
}
