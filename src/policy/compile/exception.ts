import { compileWildcard } from '../../expression/wildcard.ts';
import {
  read,
  readBoolean,
  readList,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';
import { filterBlocks, userFields } from '../check/match-blocks.ts';
import { checkMetadataTypes } from '../check/metadata.ts';
import { outermostScope } from '../check/variable-scope.ts';
import type { CompiledException } from '../compiled.ts';
import { collectProblems, type PolicySource } from '../problem-collector.ts';
import { checkObject } from '../schema/check.ts';
import { exceptionSchema } from '../schema/policy.ts';
import { compileCheckedConditions } from './conditions.ts';
import { compileFilter } from './match.ts';

export interface ExceptionResult {
  readonly exception?: CompiledException | undefined;
  readonly problems: readonly Problem[];
}

export function compileException(document: JsonObject, source: PolicySource): ExceptionResult {
  const metadata = readObject(document, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespace = readText(metadata, 'namespace') ?? 'default';
  const key = `${namespace}/${name}`;
  const collector = collectProblems(source, key);
  const reporter = collector.at([]);
  const apiVersion = readText(document, 'apiVersion') ?? '';
  checkMetadataTypes(metadata, reporter);
  if (!checkObject(document, exceptionSchema, [], reporter, apiVersion))
    return { problems: collector.problems };

  const spec = readObject(document, 'spec') ?? {};
  const match = readObject(spec, 'match') ?? {};
  for (const field of userFields) {
    for (const { block, path } of filterBlocks(match, ['spec', 'match']).blocks) {
      if (readBoolean(spec, 'background') === false || readList(block, field).length === 0) continue;
      const message = `${field} identifies the requester, and background processing has no request`;
      reporter.warn([...path, field], 'KYM_BACKGROUND_USER_INFO', message, 'Set spec.background to false.');
    }
  }
  const filter = compileFilter(match, ['spec', 'match'], reporter);
  if (filter === undefined) {
    reporter.error(
      ['spec', 'match'],
      'KYM_MATCH_EMPTY',
      'the exception has no match block',
      'Add any or all.',
    );
  }
  const conditions = compileCheckedConditions(
    read(spec, 'conditions'),
    ['spec', 'conditions'],
    reporter,
    outermostScope,
    { legacyList: false },
  );
  if (filter === undefined || collector.hasErrors()) return { problems: collector.problems };
  const exception: CompiledException = {
    key,
    name,
    namespace,
    match: filter,
    conditions,
    exceptions: readObjects(spec, 'exceptions').map((entry) => ({
      policyName: readText(entry, 'policyName') ?? '',
      ruleNames: readTexts(entry, 'ruleNames').map(compileWildcard),
    })),
    source: { file: source.file, line: source.positionOf?.([]).line ?? 1 },
  };
  return { exception, problems: collector.problems };
}
