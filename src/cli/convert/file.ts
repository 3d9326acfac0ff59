import { parseDocument, type YAMLMap } from 'yaml';
import { hasFlushLists } from '../../offline/output/yaml-edit.ts';
import { autogenRules } from '../../policy/autogen.ts';
import { isAlphaDialect } from '../../policy/dialect-v1alpha1.ts';
import { readDocuments, type SourceDocument, splitDocuments } from '../../policy/documents.ts';
import { loadDocuments } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { isPolicyOrException, policyNodes } from './documents.ts';
import { handOver } from './handover.ts';
import { conversionProblems, convertNodes, holdsReferences, switchAutogenOff } from './policy.ts';
import { keepLines, print, printJson } from './text.ts';

/** The API group of the result. */
export type ConversionTarget = 'kyverno' | 'kymera';

export interface Conversion {
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Policies and exceptions found. */
  readonly documents: number;
}

/** Converts the policies of a file. Other documents, and those that cannot be converted, are not changed. */
export function convertFile(file: string, text: string, to: ConversionTarget = 'kyverno'): Conversion {
  if (!text.includes('\r\n')) return convertLines(file, text, to);
  const converted = convertLines(file, text.replaceAll('\r\n', '\n'), to);
  return { ...converted, text: converted.text.replaceAll('\n', '\r\n') };
}

function convertLines(file: string, text: string, to: ConversionTarget): Conversion {
  const problems: Problem[] = [];
  let documents = 0;
  const parts = splitDocuments(text).map((part) => {
    const shift = (problem: Problem): Problem =>
      problem.line === undefined ? problem : { ...problem, line: problem.line + part.linesBefore };
    const modern = convertPart(file, part.text);
    const converted = to === 'kymera' ? handedOver(file, modern) : modern;
    documents += converted.documents;
    problems.push(...converted.problems.map(shift));
    return converted.text;
  });
  return { text: parts.join(''), problems, documents };
}

/** A document that could not be converted is not moved to the new group either. */
function handedOver(file: string, modern: Conversion): Conversion {
  if (modern.problems.some(({ severity }) => severity === 'error')) return modern;
  const { text, problems } = handOver(file, modern.text);
  return { ...modern, text, problems: [...modern.problems, ...problems] };
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

function referenceProblem({ file, positionOf }: SourceDocument): Problem {
  return {
    code: 'KYM_NOT_CONVERTED',
    severity: 'error',
    message: 'the policy contains references $( ) whose paths would change',
    hint: 'Replace the references with values or context variables, then convert.',
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
