import { type ErrorCode, errorTable } from '../../errors.ts';
import type { Problem } from '../../problem.ts';

export interface Validation {
  readonly problems: readonly Problem[];
  readonly errors: number;
  readonly warnings: number;
  /** Number of loaded policies. */
  readonly policies: number;
  readonly exceptions: number;
}

export function formatJson({ problems, ...summary }: Validation): string {
  return `${JSON.stringify({ problems, summary }, null, 2)}\n`;
}

/** Workflow commands of GitHub Actions: each becomes an annotation on its line. */
export function formatGithub({ problems }: Validation): string {
  return problems
    .map((problem) => {
      const { file, line, column, code, severity, message, hint } = problem;
      const properties = Object.entries({ file, line, col: column, title: code })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
      const text = hint === undefined ? message : `${message}\n${hint}`;
      return `::${severity} ${properties.join(',')}::${escapeData(text)}\n`;
    })
    .join('');
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** SARIF 2.1.0, for code scanning services. */
export function formatSarif({ problems }: Validation): string {
  const codes = [...new Set(problems.map(({ code }) => code))].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'kymera',
            version: process.env['KYMERA_VERSION'] ?? 'development',
            rules: codes.map((code) => ({
              id: code,
              shortDescription: { text: errorTable[code].cause },
              help: { text: errorTable[code].cure },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: problems.map((problem) => sarifResult(problem, codes)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function sarifResult(problem: Problem, codes: readonly ErrorCode[]) {
  const { code, severity, message, hint, file, line, column, policy, rule, pointer } = problem;
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
  const name = [policy, rule].filter((part) => part !== undefined && part !== '').join('/');
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: hint === undefined ? message : `${message} ${hint}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: uriOf(file ?? '') }, ...region },
        ...(name === '' ? {} : { logicalLocations: [{ fullyQualifiedName: `${name}${pointer}` }] }),
      },
    ],
  };
}

function uriOf(file: string): string {
  return file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
}
