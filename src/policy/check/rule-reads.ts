import { expressionReads, joinReads, type Reads, templateReads } from '../../expression/template/reads.ts';
import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';

/** The data that a rule reads when it runs, without its match blocks. */
export function ruleReads(rule: JsonObject): Reads {
  const { context, conditions, effects } = partsOf(rule);
  return joinReads([...context.map(({ reads }) => reads), ...conditions, ...effects]);
}

/** The data that determines the result of a rule: its patches or objects, and the context that they read. */
export function effectReads(rule: JsonObject): Reads {
  const { context, effects } = partsOf(rule);
  return withContext(effects, context);
}

/** The data that the preconditions of a rule itself read, and the context that they read. */
export function preconditionReads(rule: JsonObject): Reads {
  return withContext([templateReads(read(rule, 'preconditions') ?? null)], contextReads(rule));
}

function withContext(parts: readonly Reads[], context: readonly NamedReads[]): Reads {
  const taken = new Set<NamedReads>();
  let found = joinReads(parts);
  for (;;) {
    const more = context.filter((entry) => !taken.has(entry) && isRead(entry.name, found));
    if (more.length === 0) return found;
    for (const entry of more) taken.add(entry);
    found = joinReads([found, ...more.map(({ reads }) => reads)]);
  }
}

/** The context entries of a rule, target or loop, and what each reads. */
export function contextReads(holder: JsonObject): readonly NamedReads[] {
  return readObjects(holder, 'context').map(entryReads);
}

interface NamedReads {
  readonly name: string;
  readonly reads: Reads;
}

interface RuleParts {
  readonly context: readonly NamedReads[];
  readonly conditions: readonly Reads[];
  readonly effects: readonly Reads[];
}

function partsOf(rule: JsonObject): RuleParts {
  const mutate = readObject(rule, 'mutate') ?? {};
  const generate = readObject(rule, 'generate') ?? {};
  const targets = readObjects(mutate, 'targets');
  const loops = [...nestedLoops(mutate), ...nestedLoops(generate)];
  const holders = [rule, ...targets, ...loops];
  const selfIsField = true;
  return {
    context: holders.flatMap(contextReads),
    conditions: holders.map((holder) => templateReads(read(holder, 'preconditions') ?? null)),
    effects: [
      ...loops.map((loop) => expressionReads(readText(loop, 'list') ?? "''")),
      ...[mutate, ...targets, ...nestedLoops(mutate)].map((holder) =>
        templateReads(withoutInner(holder), { selfIsField }),
      ),
      ...[generate, ...nestedLoops(generate)].map((holder) => templateReads(withoutInner(holder))),
    ],
  };
}

const innerFields = new Set(['targets', 'foreach', 'context', 'preconditions', 'list']);

function withoutInner(holder: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(holder).filter(([key]) => !innerFields.has(key)));
}

function nestedLoops(holder: JsonObject): readonly JsonObject[] {
  return readObjects(holder, 'foreach').flatMap((loop) => [loop, ...nestedLoops(loop)]);
}

/** The expression of a variable without a value reads the context; others read the entry's own data. */
function entryReads(entry: JsonObject): NamedReads {
  const variable = readObject(entry, 'variable');
  const expression = variable === undefined ? undefined : readText(variable, 'jmesPath');
  const isOverContext = expression !== undefined && read(variable ?? {}, 'value') === undefined;
  return {
    name: readText(entry, 'name') ?? '',
    reads: joinReads([
      templateReads(entry),
      ...(isOverContext ? [expressionReads(expression)] : callsOnly(expressionsIn(entry))),
    ]),
  };
}

function callsOnly(texts: readonly string[]): readonly Reads[] {
  return texts.map((text) => ({ paths: [], calls: expressionReads(text).calls }));
}

function expressionsIn(value: Json): readonly string[] {
  if (isArray(value)) return value.flatMap(expressionsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'jmesPath' && typeof item === 'string' ? [item] : expressionsIn(item),
  );
}

function isRead(name: string, { paths }: Reads): boolean {
  return paths.some((path) => path.length === 0 || path[0] === name);
}
