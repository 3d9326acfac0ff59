import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import type { JsonObject } from '../json/value.ts';
import { autogenRules } from '../policy/autogen.ts';
import { isAlphaDialect } from '../policy/dialect-v1alpha1.ts';
import { readDocuments, type SourceDocument, splitDocuments } from '../policy/documents.ts';
import { loadDocuments } from '../policy/load.ts';
import { readText } from '../policy/read-field.ts';
import type { Problem } from '../problem.ts';
import { conversionProblems, convertNodes, holdsReferences, switchAutogenOff } from './convert-policy.ts';
import { keepLines, print, printJson } from './convert-text.ts';
import { hasFlushLists } from './yaml-edit.ts';
import { mapsIn, textAt } from './yaml-nodes.ts';

export interface Conversion {
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Policies and exceptions found. */
  readonly documents: number;
}

/** The text of a file with its policies in today's form; documents that cannot be converted, and all others, stay as they are. */
export function convertFile(file: string, text: string): Conversion {
  if (!text.includes('\r\n')) return convertLines(file, text);
  const converted = convertLines(file, text.replaceAll('\r\n', '\n'));
  return { ...converted, text: converted.text.replaceAll('\n', '\r\n') };
}

function convertLines(file: string, text: string): Conversion {
  const problems: Problem[] = [];
  let documents = 0;
  const parts = splitDocuments(text).map((part) => {
    const shift = (problem: Problem): Problem =>
      problem.line === undefined ? problem : { ...problem, line: problem.line + part.linesBefore };
    const converted = convertPart(file, part.text);
    documents += converted.documents;
    problems.push(...converted.problems.map(shift));
    return converted.text;
  });
  return { text: parts.join(''), problems, documents };
}

function convertPart(file: string, text: string): Conversion {
  const { documents, problems } = readDocuments({ file, text });
  const policies = documents.filter(({ value }) => isPolicyOrException(value));
  if (policies.length === 0) return { text, problems, documents: 0 };
  const kept = (more: readonly Problem[]): Conversion => ({
    text,
    problems: [...problems, ...more],
    documents: policies.length,
  });
  const broken = loadDocuments([{ file, text }]).problems.filter(({ severity }) => severity === 'error');
  if (broken.length > 0) return kept(broken);
  const obstacles = policies.flatMap(conversionProblems);
  if (obstacles.some(({ severity }) => severity === 'error')) return kept(obstacles);
  const edited = edit(text, policies);
  if (edited === text) return kept(obstacles);
  const referring = policies.filter(({ value }) => holdsReferences(value));
  if (referring.length > 0) return kept(referring.map(referenceProblem));
  const failed = loadDocuments([{ file, text: edited }]).problems.filter(
    ({ severity }) => severity === 'error',
  );
  if (failed.length > 0) return kept(failed.map((problem) => ({ ...problem, code: 'KYM_NOT_CONVERTED' })));
  return { text: edited, problems: [...problems, ...obstacles], documents: policies.length };
}

function isPolicyOrException(value: JsonObject): boolean {
  const version = readText(value, 'apiVersion') ?? '';
  return (
    /^(?:kyverno\.io|policy\.nirmata\.io|kymera\.io)\//.test(version) &&
    /^(?:ClusterPolicy|Policy|PolicyException)$/.test(readText(value, 'kind') ?? '')
  );
}

function referenceProblem({ file, positionOf }: SourceDocument): Problem {
  return {
    code: 'KYM_NOT_CONVERTED',
    severity: 'error',
    message: 'the policy holds references $( ), whose paths would change',
    hint: 'Write the values out, or use a variable of the context; then convert.',
    pointer: '',
    file,
    ...positionOf([]),
  };
}

function edit(text: string, policies: readonly SourceDocument[]): string {
  const parse = () => parseDocument(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const isJson = /^\s*[{[]/.test(text);
  const document = parse();
  const indentSeq = !hasFlushLists(text);
  policyNodes(document).forEach((node, index) => {
    const source = policies[index]?.value;
    if (source === undefined) return;
    convertNodes(node, source, indentSeq);
    if (isAlphaDialect(source) && gainsRules(node)) switchAutogenOff(node);
  });
  const plain = print(parse(), text, indentSeq);
  const printed = print(document, text, indentSeq);
  if (plain === printed) return text;
  return isJson ? printJson(printed, text) : keepLines(text, plain, printed);
}

function gainsRules(node: YAMLMap): boolean {
  const [read] = readDocuments({ file: '', text: String(printNode(node)) }).documents;
  return read !== undefined && autogenRules(read.value).length > 0;
}

function printNode(node: YAMLMap): string {
  const document = parseDocument('', { schema: 'failsafe' });
  document.contents = node as never;
  return document.toString({ lineWidth: 0 });
}

/** In the order in which their documents are read: a List stands for its items. */
function policyNodes(document: Document): readonly YAMLMap[] {
  const flatten = (node: unknown): readonly YAMLMap[] => {
    if (!isMap(node)) return [];
    return (textAt(node, 'kind') ?? '').endsWith('List') && isSeq(node.get('items', true))
      ? mapsIn(node, 'items').flatMap(flatten)
      : [node];
  };
  return flatten(document.contents).filter((node) => {
    const [apiVersion, kind] = [textAt(node, 'apiVersion') ?? '', textAt(node, 'kind') ?? ''];
    return isPolicyOrException({ apiVersion, kind });
  });
}
