import { resolveReferences } from '../../expression/template/reference.ts';
import { type CompiledTemplate, compileTemplate } from '../../expression/template/template.ts';
import { read, readBoolean, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { adviseOnBraces } from '../check/advice.ts';
import { checkGenerate, isComplete } from '../check/generate.ts';
import { checkMatch } from '../check/match.ts';
import { checkVariables, insideLoop, outermostScope, type VariableScope } from '../check/variable-scope.ts';
import type {
  CompiledContent,
  CompiledGenerateLoop,
  CompiledGeneratePattern,
  CompiledGenerateRule,
  CompiledGeneration,
} from '../compiled.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { watchErrors } from '../problem-collector.ts';
import { versionsWithFlatForms } from '../schema/schema.ts';
import { compileCheckedConditions } from './conditions.ts';
import { compileContext } from './context.ts';
import { compileList } from './foreach.ts';
import { compileFilter } from './match.ts';
import { optional } from './rule.ts';

export interface GenerateRuleOptions {
  /** Paths are relative to the rule. */
  readonly reporter: Reporter;
  readonly facts: PolicyFacts;
  /** Path of the author's rule in the policy document. */
  readonly path: Path;
}

/** Compiles a generate rule that passed the schema check. Undefined when it has errors or cannot run; problems are reported. */
export function compileGenerateRule(
  rule: JsonObject,
  { reporter: outer, facts, path }: GenerateRuleOptions,
): CompiledGenerateRule | undefined {
  const reporter = watchErrors(outer);
  checkMatch(rule, facts, reporter);
  checkGenerate(rule, facts, reporter);
  adviseOnBraces(rule, [], reporter);
  const match = compileFilter(readObject(rule, 'match') ?? {}, ['match'], reporter);
  const exclude = compileFilter(readObject(rule, 'exclude') ?? {}, ['exclude'], reporter);
  const context = compileContext(readObjects(rule, 'context'), ['context'], reporter, facts, outermostScope);
  const hasFlatForms = versionsWithFlatForms.includes(facts.apiVersion);
  const preconditions = compileCheckedConditions(
    read(rule, 'preconditions'),
    ['preconditions'],
    reporter,
    context.scope,
    { legacyList: hasFlatForms, legacyOperators: hasFlatForms },
  );
  const generate = readObject(rule, 'generate') ?? {};
  const generation = compileGeneration(generate, context.scope, facts, reporter);
  if (reporter.failed || match === undefined || !isComplete(rule)) return undefined;
  return {
    name: readText(rule, 'name') ?? '',
    path,
    match,
    ...optional({ exclude }),
    context: context.entries,
    ...optional({ preconditions }),
    synchronize: readBoolean(generate, 'synchronize') ?? false,
    orphanDownstreamOnPolicyDelete: readBoolean(generate, 'orphanDownstreamOnPolicyDelete') ?? false,
    generateExisting: readBoolean(generate, 'generateExisting') ?? facts.generateExisting,
    useServerSideApply: facts.useServerSideApply,
    skipBackgroundRequests: readBoolean(rule, 'skipBackgroundRequests') ?? true,
    generation,
    document: rule,
  };
}

function compileGeneration(
  generate: JsonObject,
  scope: VariableScope,
  facts: PolicyFacts,
  reporter: Reporter,
): CompiledGeneration {
  const path: Path = ['generate'];
  if (readList(generate, 'foreach').length === 0) {
    return { type: 'pattern', pattern: compilePattern(generate, path, scope, reporter) };
  }
  const entries = readObjects(generate, 'foreach').flatMap(
    (entry, index) => compileLoop(entry, [...path, 'foreach', index], scope, facts, reporter) ?? [],
  );
  return { type: 'foreach', entries };
}

function compileLoop(
  document: JsonObject,
  path: Path,
  outer: VariableScope,
  facts: PolicyFacts,
  reporter: Reporter,
): CompiledGenerateLoop | undefined {
  const list = compileList(readText(document, 'list') ?? '', [...path, 'list'], outer, reporter);
  const context = compileContext(
    readObjects(document, 'context'),
    [...path, 'context'],
    reporter,
    facts,
    insideLoop(outer, undefined),
  );
  const preconditions = compileCheckedConditions(
    read(document, 'preconditions'),
    [...path, 'preconditions'],
    reporter,
    context.scope,
    { legacyList: false },
  );
  const pattern = compilePattern(document, path, context.scope, reporter);
  if (list === undefined) return undefined;
  return { path, list, context: context.entries, ...optional({ preconditions }), pattern };
}

function compilePattern(
  document: JsonObject,
  path: Path,
  scope: VariableScope,
  reporter: Reporter,
): CompiledGeneratePattern {
  const template = (field: string): CompiledTemplate | undefined => {
    const value = read(document, field);
    return value === undefined || value === ''
      ? undefined
      : compileChecked(value, [...path, field], scope, reporter);
  };
  return {
    path,
    ...optional({
      apiVersion: template('apiVersion'),
      kind: template('kind'),
      namespace: template('namespace'),
      name: template('name'),
    }),
    content: compileContent(document, path, scope, reporter),
  };
}

function compileContent(
  document: JsonObject,
  path: Path,
  scope: VariableScope,
  reporter: Reporter,
): CompiledContent {
  const clone = readObject(document, 'clone');
  if (clone !== undefined && (readText(clone, 'name') ?? '') !== '') {
    return { type: 'clone', source: compileChecked(clone, [...path, 'clone'], scope, reporter) };
  }
  const cloneList = readObject(document, 'cloneList');
  if (cloneList !== undefined && readList(cloneList, 'kinds').length > 0) {
    return { type: 'cloneList', source: compileChecked(cloneList, [...path, 'cloneList'], scope, reporter) };
  }
  const data = read(document, 'data');
  if (!isObject(data ?? null)) return { type: 'none' };
  return {
    type: 'data',
    data: compileChecked(
      withReferences(data ?? null, [...path, 'data'], reporter),
      [...path, 'data'],
      scope,
      reporter,
    ),
  };
}

function compileChecked(value: Json, path: Path, scope: VariableScope, reporter: Reporter): CompiledTemplate {
  const template = compileTemplate(value, path, reporter);
  checkVariables(template.roots, scope, path, reporter, value);
  return template;
}

/**
 * `$(/path)` is a reference inside the data. Data often contains scripts, where `$(command)` is a literal: an unresolved
 * reference is kept, with a warning that Kyverno fails there.
 */
function withReferences(data: Json, path: Path, reporter: Reporter): Json {
  return resolveReferences(data, path, {
    error: (at, code, message, hint) =>
      reporter.warn(at, code, `${message}; it is kept as a literal, and Kyverno fails here`, hint),
    warn: reporter.warn,
  });
}
