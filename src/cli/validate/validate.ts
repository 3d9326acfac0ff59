import { adviseOnPolicy } from '../../analysis/advice/advice.ts';
import { errorTable } from '../../errors.ts';
import type { JsonObject } from '../../json/value.ts';
import { celCompilersFor, celDocumentType } from '../../policy/cel-documents.ts';
import { loadDocuments } from '../../policy/load.ts';
import type { PolicySource } from '../../policy/problem-collector.ts';
import { inputError, type Problem } from '../../problem.ts';
import { noPolicy, readPolicyTexts } from '../input/policy-input.ts';
import { readObjects } from '../input/resource-reader.ts';
import { watchInputs } from '../input/watch.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { interplayProblems } from './interplay.ts';
import { formatGithub, formatJson, formatSarif, type Validation } from './report.ts';
import { formatValidation } from './text.ts';

export interface ValidateOptions {
  readonly format: 'text' | 'json' | 'sarif' | 'github';
  readonly strict?: boolean | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly watch?: boolean | undefined;
  readonly resource?: readonly string[] | undefined;
  readonly color?: boolean | undefined;
}

/** `kymera validate`: reports errors and warnings about policies. */
export function validate(names: readonly string[], options: ValidateOptions, io: Io): Promise<ExitCode> {
  for (const code of options.ignore ?? []) {
    if (!Object.hasOwn(errorTable, code)) throw inputError('KYM_USAGE', `there is no problem code ${code}`);
  }
  if (options.watch !== true) return validateOnce(names, options, io);
  const run = () => validateOnce(names, options, io);
  const watched = [...names, ...(options.resource ?? [])];
  return watchInputs({ names: () => watched, title: 'kymera validate', color: options.color, run }, io);
}

async function validateOnce(names: readonly string[], options: ValidateOptions, io: Io): Promise<ExitCode> {
  const files = await readPolicyTexts(names, io);
  const sources = new Map<JsonObject, PolicySource>();
  const cel = await celCompilersFor(files);
  const generation = cel === undefined ? undefined : await import('../../convert/forms/generation.ts');
  const loaded = loadDocuments(files, {
    cel,
    advise(document, source) {
      if (celDocumentType(document) !== undefined)
        return generation?.adviseOnGeneration(document, source) ?? [];
      sources.set(document, source);
      return adviseOnPolicy(document, source);
    },
  });
  const objects = options.resource === undefined ? {} : { objects: await readObjects(options.resource, io) };
  const interplay = interplayProblems(loaded.policies, { sources, ...objects });
  const isIgnored = ({ severity, code }: Problem) =>
    severity === 'warning' && options.ignore?.includes(code) === true;
  const problems = [...loaded.problems, ...interplay].filter((problem) => !isIgnored(problem));
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const documents = loaded.policies.length + loaded.exceptions.length + loaded.globalContext.length;
  if (documents === 0 && errors === 0) throw noPolicy(names, files, loaded, { takesResources: true });
  const validation: Validation = {
    problems,
    errors,
    warnings: problems.length - errors,
    policies: loaded.policies.length,
    exceptions: loaded.exceptions.length,
  };
  await io.stdout.write(format(validation, files, options, io));
  return errors > 0 || (options.strict === true && problems.length > 0) ? 1 : 0;
}

function format(
  validation: Validation,
  files: readonly { readonly file: string; readonly text: string }[],
  options: ValidateOptions,
  io: Io,
): string {
  switch (options.format) {
    case 'json':
      return formatJson(validation);
    case 'sarif':
      return formatSarif(validation);
    case 'github':
      return formatGithub(validation);
    case 'text': {
      const texts = new Map(files.map(({ file, text }) => [file, text]));
      return formatValidation(validation, texts, paintFor(io.stdout, io, options.color), io.stdout.columns);
    }
  }
}
