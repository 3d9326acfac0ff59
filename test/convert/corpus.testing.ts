import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { hasVariable } from '../../src/expression/template/tokens.ts';
import { read, readObject, readObjects, readText, readTexts } from '../../src/json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { filterBlocks } from '../../src/policy/check/match-blocks.ts';
import { readDocuments, type SourceDocument } from '../../src/policy/documents.ts';
import { ruleType } from '../../src/policy/rule-type.ts';
import { corpusFolder } from '../needs.testing.ts';

const root = join(import.meta.dirname, '..', '..');

/** A policy that mutates, with the objects of its case. */
export interface CorpusPolicy {
  readonly name: string;
  readonly document: SourceDocument;
  readonly source: string;
  readonly objects: readonly JsonObject[];
  /** `m`: every feature converts mechanically. `p`: some features convert in a subset. `n`: a feature has no equivalent. */
  readonly features: 'm' | 'p' | 'n';
}

const policyName = /^(?:Cluster)?Policy$/;

/** The policies below a folder, with the objects that lie beside them. */
export function policiesBelow(folder: string): readonly CorpusPolicy[] {
  if (!existsSync(folder)) return [];
  return filesBelow(folder).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const { documents } = readDocuments({ file, text });
    return documents.flatMap((document) => {
      const { value } = document;
      const rules = readObjects(readObject(value, 'spec') ?? {}, 'rules');
      const isPolicy = policyName.test(readText(value, 'kind') ?? '');
      if (!isPolicy || rules.length === 0 || !rules.every((rule) => ruleType(rule) === 'mutate')) return [];
      const name = `${relative(folder, file)} ${readText(readObject(value, 'metadata') ?? {}, 'name')}`;
      const objects = objectsBeside(file);
      return [
        { name, document, source: documents.length === 1 ? text : '', objects, features: featuresOf(value) },
      ];
    });
  });
}

export const kyvernoCorpus = join(corpusFolder, 'kyverno');
export const ownFolders = [
  'docs/cookbook',
  'docs/policy-examples',
  'policies',
  'examples',
  'bench/data/policies',
].map((name) => join(root, name));

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
      return /\.ya?ml$/.test(entry.name) && entry.name !== 'case.yaml' ? [path] : [];
    });
}

/** The objects of the files in the folder of a policy; a case of the corpus names them. */
function objectsBeside(file: string): readonly JsonObject[] {
  const folder = dirname(file);
  const caseFile = join(folder, 'case.yaml');
  const named = existsSync(caseFile)
    ? ((parse(readFileSync(caseFile, 'utf8')) as { resources?: readonly string[] }).resources ?? [])
    : readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
  return named
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => parseAllDocuments(readFileSync(path, 'utf8')))
    .flatMap((document) => {
      const value = ('errors' in document && document.errors.length === 0 ? document.toJS() : null) as Json;
      return isObject(value) && isResource(value) ? [value] : [];
    });
}

function isResource(value: JsonObject): boolean {
  const [apiVersion, kind] = [readText(value, 'apiVersion') ?? '', readText(value, 'kind') ?? ''];
  return apiVersion !== '' && kind !== '' && !/kyverno\.io|kymera\.io|kustomize/.test(apiVersion);
}

const plainPath =
  /^request\.(?:object|oldObject|operation|name|namespace|userInfo)(?:\.(?:\w+|"[^"]+")|\[\d+\])*$/;

/** The features of a policy by the table of what converts: the worst one counts. */
function featuresOf(policy: JsonObject): CorpusPolicy['features'] {
  const spec = readObject(policy, 'spec') ?? {};
  const rules = readObjects(spec, 'rules').map(ruleFeatures);
  if (rules.includes('n')) return 'n';
  const isPartial = readText(spec, 'applyRules') === 'One' || readText(policy, 'kind') === 'Policy';
  return rules.includes('p') || isPartial ? 'p' : 'm';
}

function ruleFeatures(rule: JsonObject): CorpusPolicy['features'] {
  const blocks = ['match', 'exclude'].flatMap(
    (field) => filterBlocks(readObject(rule, field) ?? {}, []).blocks,
  );
  const mutate = readObject(rule, 'mutate') ?? {};
  if (read(mutate, 'replacements') !== undefined) return 'n';
  if (
    blocks.some(({ block }) => readTexts(block, 'roles').length + readTexts(block, 'clusterRoles').length > 0)
  )
    return 'n';
  const isPartialMatch = blocks.some(
    ({ block, resources }) =>
      ['names', 'namespaces'].some((field) => readTexts(resources, field).length > 0) ||
      ['name', 'annotations'].some((field) => read(resources, field) !== undefined) ||
      readObjects(block, 'subjects').length > 0 ||
      readTexts(resources, 'kinds').some((kind) => /[*?]/.test(kind)) ||
      /[*?]/.test(JSON.stringify([resources['selector'] ?? null, resources['namespaceSelector'] ?? null])),
  );
  const isPartialBody =
    ['foreach', 'targets'].some((field) => read(mutate, field) !== undefined) ||
    read(rule, 'context') !== undefined ||
    hasConditionAnchor(read(mutate, 'patchStrategicMerge') ?? null) ||
    stringsIn(rule).some((text) => variablesOf(text).some((variable) => !plainPath.test(variable.trim())));
  return isPartialMatch || isPartialBody ? 'p' : 'm';
}

function variablesOf(text: string): readonly string[] {
  return hasVariable(text) ? [...text.matchAll(/\{\{(.*?)\}\}/gs)].map(([, inner = '']) => inner) : [];
}

function hasConditionAnchor(value: Json): boolean {
  if (isArray(value)) return value.some(hasConditionAnchor);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => /^<?\(/.test(key) || hasConditionAnchor(inner));
}

function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => [key, ...stringsIn(inner)]) : [];
}
