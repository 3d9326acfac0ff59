/** What authors write by the habits of other languages, and what CEL has instead. */
interface Habit {
  readonly message: RegExp;
  /** The source up to the problem, if that matters. */
  readonly before?: RegExp;
  /** The source from the problem on, if that matters. */
  readonly from?: RegExp;
  readonly hint: string;
}

const syntax = /^Syntax error/;

const syntaxHabits: readonly Habit[] = [
  {
    message: syntax,
    before: /^\s*$/,
    from: /^\s*$/,
    hint: 'The expression is empty: write one, or remove the field.',
  },
  {
    message: syntax,
    before: /^\s*\{\{/,
    hint: 'CEL has no {{ }}: write the name alone, such as object.metadata.name.',
  },
  { message: syntax, from: /^and\b/i, hint: 'Write `&&` for a logical and.' },
  { message: syntax, from: /^or\b/i, hint: 'Write `||` for a logical or.' },
  { message: syntax, before: /\bnot\s+$/i, hint: 'Write `!` for a logical not.' },
  { message: syntax, from: /^=>/, hint: 'A macro takes a name and an expression: list.all(x, x > 0).' },
  {
    message: syntax,
    from: /^(?:has|contains|includes)\b/,
    hint: 'Test a key or an item with `in`: "key" in map.',
  },
  { message: syntax, from: /^is\b/, hint: 'Compare with `==`; test a type with type(x) == string.' },
  { message: syntax, from: /^;/, hint: 'An expression is one value: remove the `;`.' },
  { message: syntax, from: /^,\s*$/, hint: 'Remove the comma; conditions are joined with `&&`.' },
  {
    message: /expecting a field name/,
    hint: 'Field names of Object{…} have no quotes; keys of a map {…} have.',
  },
  {
    message: /mismatched input ':'/,
    before: /^\s*\w+\s*$/,
    hint: 'The field takes CEL, not YAML: write Object{metadata: Object.metadata{…}}.',
  },
];

const named = (name: string) => new RegExp(`^undeclared reference to '(?:${name})'`);

const nameHabits: readonly Habit[] = [
  {
    message: /^undeclared reference/,
    before: /[\w\])][-/]$/,
    hint: 'Write a key that is no plain name in brackets: object.metadata.labels["my-app/name"].',
  },
  {
    message: named('nil|None|NULL|Null|undefined'),
    hint: 'Write null; test a field with has(object.field).',
  },
  { message: named('True|TRUE'), hint: 'Write true.' },
  { message: named('False|FALSE'), hint: 'Write false.' },
  { message: named('len|length|count'), hint: 'Use size(…).' },
  { message: named('includes|any'), hint: 'Test an item with `in`, or with list.exists(x, …).' },
  { message: named('isEmpty|empty|is_empty'), hint: 'Write size(…) == 0.' },
  { message: named('str|to_string|toString|tostring'), hint: 'Use string(…).' },
  { message: named('append|push|concat'), hint: 'Join lists and strings with `+`: list + [item].' },
  { message: named('default|coalesce|getOrDefault'), hint: 'Write object.?field.orValue(…).' },
  { message: named('parse_json|parseJson|fromJson'), hint: 'Use json.unmarshal(…).' },
  { message: named('now'), hint: 'Use time.now(), in a MutatingPolicy.' },
  {
    message: named('all|exists|exists_one|existsOne|map|filter|transformList|transformMap'),
    hint: 'Name the variable first: list.all(x, x > 0).',
  },
  {
    message: named('add|remove|replace|move|copy|test'),
    before: /\bop:\s*$/,
    hint: 'An operation is a string: op: "add".',
  },
  { message: named('self|obj|resource\\.object'), hint: "Did you mean 'object'?" },
  { message: named('params'), hint: 'Only a MutatingAdmissionPolicy with paramKind has params.' },
  {
    message: named('images'),
    hint: 'Mutating policies have no images: read object.spec.containers, and parse an image with image(…).',
  },
  {
    message: named('object(?:\\.\\w+)*'),
    from: /^\s*\{/,
    hint: 'The type of an ApplyConfiguration is Object{…}, with a capital letter.',
  },
  { message: /^undefined field 'operation'/, before: /JSONPatch\{[^}]*$/, hint: "Did you mean 'op'?" },
  {
    message: /^found no matching overload for 'contains' applied to '(?:list|map)/,
    hint: 'Test an item of a list or a key of a map with `in`: "a" in list.',
  },
];

/** A better hint than the one given, which names similar names, where a habit explains the problem. */
export function habitHint(
  source: string,
  offset: number,
  message: string,
  given: string | undefined,
): string | undefined {
  const habits = message.startsWith('Syntax error') ? syntaxHabits : nameHabits;
  const near = 200;
  const before = source.slice(Math.max(0, offset - near), offset);
  const from = source.slice(offset, offset + near);
  const habit = habits.find(
    (one) =>
      one.message.test(message) &&
      (one.before === undefined || one.before.test(before)) &&
      (one.from === undefined || one.from.test(from)),
  );
  if (habit !== undefined || given !== undefined) return habit?.hint ?? given;
  const isVariable = message.startsWith('undefined field') && /\bvariables$/.test(before);
  return isVariable ? 'Declare it under variables, above the expressions that read it.' : undefined;
}
