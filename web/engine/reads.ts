import type { DataAnswer, DataQuery, DataSource } from '../../src/engine/context/data-source.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import type { CannedData } from '../../src/offline/data-source.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type { ContextRead, SourceProblem } from './evaluation.ts';

/** What one evaluation may read is bounded, and so is the list of it. */
const mostReads = 200;

/** Records what policies read through a data source. */
export function recordReads(source: DataSource): { readonly source: DataSource; reads(): ContextRead[] } {
  const reads = new Map<string, ContextRead>();
  const record = (query: DataQuery, answer: DataAnswer) => {
    const key = keyOf(query);
    if (query.type === 'schema' || reads.has(key) || reads.size >= mostReads) return answer;
    reads.set(key, {
      key,
      type: query.type,
      title: key,
      found: answer.found,
      ...(answer.found ? {} : { error: answer.error }),
      starter: starterOf(query, answer),
    });
    return answer;
  };
  return {
    source: {
      read: (query, milliseconds) => {
        const answer = source.read(query, milliseconds);
        return answer instanceof Promise
          ? answer.then((found) => record(query, found))
          : record(query, answer);
      },
    },
    reads: () => [...reads.values()].filter(({ type }) => type !== 'namespaceLabels'),
  };
}

function keyOf(query: DataQuery): string {
  switch (query.type) {
    case 'configMap':
      return `ConfigMap ${query.namespace}/${query.name}`;
    case 'apiCall':
      return `${query.method} ${urlOf(query)}`;
    case 'imageRegistry':
      return `image ${query.reference}`;
    case 'globalReference':
      return `GlobalContextEntry ${query.name}`;
    case 'namespaceLabels':
      return `labels of namespace ${query.namespace}`;
    case 'object':
      return `${query.kind} ${query.namespace === undefined ? '' : `${query.namespace}/`}${query.name}`;
    case 'schema':
      return `schema of ${query.kind}`;
  }
}

function urlOf({ urlPath, service }: Extract<DataQuery, { type: 'apiCall' }>): string {
  const url = isObject(service ?? null) ? (service as JsonObject)['url'] : undefined;
  return urlPath ?? (typeof url === 'string' ? url : '');
}

/** The answer itself if there is one: an answer from an input object can be edited, too. */
function starterOf(query: DataQuery, answer: DataAnswer): string {
  if (answer.found) return writeYaml(answer.value);
  switch (query.type) {
    case 'configMap':
      return writeYaml({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: query.name, namespace: query.namespace },
        data: { key: 'value' },
      });
    case 'object': {
      const { group = '', version = 'v1', kind, name, namespace } = query;
      return writeYaml({
        apiVersion: group === '' ? version : `${group}/${version}`,
        kind,
        metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      });
    }
    case 'imageRegistry':
      return writeYaml({
        image: query.reference,
        resolvedImage: query.reference,
        manifest: {},
        configData: { architecture: 'amd64', os: 'linux', config: { User: '65532', Env: [] } },
      });
    case 'apiCall':
      return writeYaml({ items: [] });
    default:
      return writeYaml({});
  }
}

export interface ParsedMocks {
  readonly objects: readonly JsonObject[];
  readonly canned: CannedData;
  readonly problems: readonly SourceProblem[];
}

/** Turns mocks into objects and canned answers. An empty mock does not count. */
export function parseMocks(mocks: Readonly<Record<string, string>>): ParsedMocks {
  const objects: JsonObject[] = [];
  const problems: SourceProblem[] = [];
  const apiCalls = new Map<string, { status: number; body: Json }>();
  const globalReferences = new Map<string, Json>();
  const images = new Map<string, Json>();
  for (const [key, text] of Object.entries(mocks)) {
    if (text.trim() === '') continue;
    const parsed = parseMock(key, text);
    if ('problem' in parsed) problems.push(parsed.problem);
    else if (/^(?:GET|POST) /.test(key)) apiCalls.set(key, { status: 200, body: parsed.value });
    else if (key.startsWith('image ')) images.set(key.slice('image '.length), parsed.value);
    else if (key.startsWith('GlobalContextEntry '))
      globalReferences.set(key.slice('GlobalContextEntry '.length), parsed.value);
    else if (isObject(parsed.value)) objects.push(parsed.value);
    else problems.push(mockProblem(key, 'the mock of an object must be a map'));
  }
  return { objects, canned: { apiCalls, globalReferences, images }, problems };
}

function parseMock(key: string, text: string): { value: Json } | { problem: SourceProblem } {
  try {
    return { value: parseYamlText(text) };
  } catch (error) {
    // Slower, but it knows line and column.
    const [located] = readDocuments({ file: key, text }).problems;
    if (located !== undefined) return { problem: { ...located, role: 'mocks' } };
    return { problem: mockProblem(key, error instanceof Error ? error.message : String(error)) };
  }
}

function mockProblem(key: string, message: string): SourceProblem {
  return { role: 'mocks', file: key, code: 'KYM_YAML_SYNTAX', severity: 'error', message, pointer: '' };
}
