import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alphaPolicySchema, exceptionSchema, policySchema } from '../src/policy/schema/policy.ts';
import type { FieldSchema, FieldType, ObjectSchema } from '../src/policy/schema/schema.ts';
import { headingAnchor } from './heading-anchor.ts';

interface Section {
  readonly title: string;
  readonly schema: ObjectSchema;
  /** Where the fields stand: `spec.rules[].match`. */
  readonly path: string;
  readonly text: string;
  /** Files of docs/policy-examples. */
  readonly examples: readonly string[];
}

/** What a page says about the parts of a policy; which fields there are comes from the schema. */
const chapters: readonly Omit<Section, 'schema'>[] = [
  {
    title: 'Policy',
    path: '',
    text: 'A `ClusterPolicy` acts in every namespace and on cluster-wide objects, a `Policy` in its own namespace. The same kinds are served as `kymera.io/v1`, which Kyverno does not see.',
    examples: [],
  },
  { title: 'spec', path: 'spec', text: 'What holds for all rules of the policy.', examples: ['policy'] },
  {
    title: 'spec.rules[]',
    path: 'spec.rules[]',
    text: 'A rule says what it is about, under which conditions it applies, and what it does: one of `mutate` and `generate`. Rules of the types `validate` and `verifyImages` are passed over.',
    examples: ['rule'],
  },
  {
    title: 'match and exclude',
    path: 'spec.rules[].match',
    text: 'Blocks of `any` or `all`. Within a block every attribute must fit; within an attribute one entry.',
    examples: ['match'],
  },
  {
    title: 'preconditions',
    path: 'spec.rules[].preconditions',
    text: 'Operators: `Equals`, `NotEquals`, `AnyIn`, `AllIn`, `AnyNotIn`, `AllNotIn`, `GreaterThan`, `GreaterThanOrEquals`, `LessThan`, `LessThanOrEquals`, and `Duration…` forms of the last four. Both sides may hold variables; values may hold wildcards.',
    examples: ['conditions'],
  },
  {
    title: 'context',
    path: 'spec.rules[].context[]',
    text: 'Each entry has a name and one source. It is read when an expression first uses it, once for a request.',
    examples: ['context'],
  },
  {
    title: 'mutate',
    path: 'spec.rules[].mutate',
    text: 'One of `patchStrategicMerge`, `patchesJson6902`, `foreach` and `replacements`; with `targets`, on existing objects.',
    examples: ['mutate-merge', 'mutate-json', 'mutate-replacements'],
  },
  {
    title: 'mutate.foreach[]',
    path: 'spec.rules[].mutate.foreach[]',
    text: 'Variables of a loop: `element`, `elementIndex`; in nested loops `element0`, `element1`, … from the outside in.',
    examples: ['foreach'],
  },
  {
    title: 'mutate.targets[]',
    path: 'spec.rules[].mutate.targets[]',
    text: 'Existing objects, changed in the background when a trigger is admitted. `target` is the object in patches and conditions; `{{@}}` is its value at the same place. See [In the background](../background.md).',
    examples: ['targets'],
  },
  {
    title: 'generate',
    path: 'spec.rules[].generate',
    text: 'One of `data`, `clone`, `cloneList` and `foreach`. See [In the background](../background.md).',
    examples: ['generate'],
  },
];

const others: readonly (Omit<Section, 'schema'> & { readonly root: ObjectSchema })[] = [
  {
    title: 'PolicyException',
    root: exceptionSchema,
    path: 'spec',
    text: 'Lifts rules for the objects it matches. It counts only in namespaces that the server was told of.',
    examples: ['exception'],
  },
  {
    title: 'The oldest form: v1alpha1',
    root: alphaPolicySchema,
    path: 'spec.rules[]',
    text: '`resource` in place of `match`, `overlay` and `patches` in place of the patches of today. `kymera convert` rewrites it.',
    examples: ['alpha'],
  },
];

/** Every field of the policy documents, with the examples that use them. */
export function policyPage(root: string): string {
  const sections: Section[] = [
    ...chapters.map((chapter) => ({ ...chapter, schema: schemaAt(policySchema, chapter.path) })),
    ...others.map(({ root: schema, ...chapter }) => ({ ...chapter, schema: schemaAt(schema, chapter.path) })),
  ];
  const own = new Set(sections.map(({ path }) => path));
  return `<!-- Written by \`npm run docs\` from the schema and docs/policy-examples: change those, not this page. -->

# Policies, field by field

Policies of \`kyverno.io/v1\` and \`v2beta1\` run as they are. Every field below is checked when a policy is loaded; one that is not here is an error. In an editor, the
same is available from the [JSON Schema](../editor.md).

${sections.map(({ title }) => `- [${title}](#${headingAnchor(title)})`).join('\n')}

${sections.map((section) => sectionText(section, own, root)).join('\n')}`;
}

/** Fields that a reader of the section should find in its examples. */
export function fieldsToShow(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...chapters.map((chapter) => ({ ...chapter, root: policySchema })), ...others].map(
      ({ title, root, path }) => {
        const rows = rowsOf(schemaAt(root, path), '', new Set());
        return [title, rows.filter(({ field }) => isShown(field)).map(({ name }) => lastName(name))] as const;
      },
    ),
  );
}

function isShown(field: FieldSchema): boolean {
  return (
    field.deprecated === undefined &&
    !/passed over|Without effect|for validate|For validate|verifyImages only|Written by/.test(
      field.description,
    )
  );
}

function lastName(path: string): string {
  return path.replaceAll('[]', '').split('.').at(-1) ?? path;
}

function sectionText(
  { title, schema, path, text, examples }: Section,
  own: ReadonlySet<string>,
  root: string,
): string {
  const rows = rowsOf(schema, '', own, path).map(
    ({ name, field }) => `| \`${name}\` | ${typeName(field.type)} | ${meaning(field)} |`,
  );
  const shown = examples.map((name) => {
    const example = readFileSync(join(root, 'docs/policy-examples', `${name}.yaml`), 'utf8');
    return `\n\`\`\`yaml\n${example}\`\`\`\n`;
  });
  return `## ${title}\n\n${text}\n\n| field | type | meaning |\n|---|---|---|\n${rows.join('\n')}\n${shown.join('')}`;
}

/** The fields of an object and of the objects in it, up to those that have a section of their own. */
function rowsOf(
  schema: ObjectSchema,
  prefix: string,
  own: ReadonlySet<string>,
  path = '',
  told = new Set<ObjectSchema>(),
): readonly { readonly name: string; readonly field: FieldSchema }[] {
  return Object.entries(schema).flatMap(([key, field]) => {
    const isList = typeof field.type === 'object' && 'list' in field.type;
    const name = `${prefix}${key}${isList ? '[]' : ''}`;
    const place = path === '' ? name.slice(prefix.length) : `${path}.${name.slice(prefix.length)}`;
    const row = { name, field };
    const inner = objectIn(field.type);
    const isElsewhere = own.has(place) || place.endsWith('.exclude') || field.deprecated !== undefined;
    if (inner === undefined || isElsewhere || told.has(inner)) return [row];
    told.add(inner);
    return [row, ...rowsOf(inner, `${name}.`, own, place, told)];
  });
}

function schemaAt(schema: ObjectSchema, path: string): ObjectSchema {
  if (path === 'spec.rules[].preconditions') return schemaAt(exceptionSchema, 'spec.conditions');
  let found = schema;
  for (const part of path === '' ? [] : path.split('.')) {
    const field = found[part.replace('[]', '')];
    const inner = field === undefined ? undefined : objectIn(field.type);
    if (inner === undefined) throw new Error(`the schema has no ${path}`);
    found = inner;
  }
  return found;
}

function objectIn(type: FieldType): ObjectSchema | undefined {
  if (typeof type === 'string' || 'lazy' in type) return undefined;
  return 'object' in type ? type.object : objectIn(type.list);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'whole number',
  free: 'anything',
  object: 'map',
  texts: 'map of texts',
};

function typeName(type: FieldType): string {
  if (typeof type === 'string') return typeNames[type] ?? type;
  if ('list' in type) return `list of ${plural(type.list)}`;
  return 'object' in type ? 'map' : 'list of loops';
}

function plural(type: FieldType): string {
  if (type === 'string') return 'texts';
  return typeof type === 'object' && 'lazy' in type ? 'loops' : 'maps';
}

function meaning(field: FieldSchema): string {
  const parts = [field.description];
  if (field.required === true) parts.push('Required.');
  if (field.enum !== undefined) parts.push(`One of ${field.enum.map((value) => `\`${value}\``).join(', ')}.`);
  if (field.minimum !== undefined) parts.push(`From ${field.minimum} to ${field.maximum}.`);
  if (field.default !== undefined) parts.push(`Default: \`${JSON.stringify(field.default)}\`.`);
  if (field.deprecated !== undefined) {
    parts.push(field.deprecated === 'nothing' ? 'Deprecated.' : `Deprecated: use ${field.deprecated}.`);
  }
  if (field.versions !== undefined) parts.push(`In ${field.versions.join(', ')} only.`);
  return parts.join(' ').replaceAll('|', '\\|');
}
