/** The parts of JSON Schema that our schema of policies uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** The schemas that apply at a path. The path begins below the definition; `-` is an item of a list. */
export function schemasAt(root: Schema, definition: string, path: readonly string[]): Schema[] {
  let found = expand(root, root.definitions?.[definition] ?? {});
  for (const step of path) {
    found = found.flatMap((schema) => {
      const below = step === '-' ? schema.items : memberOf(schema, step);
      return below === undefined ? [] : expand(root, below);
    });
  }
  return found;
}

function memberOf({ properties, additionalProperties }: Schema, key: string): Schema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The schema itself and its alternatives, with references resolved. */
function expand(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const name = schema.$ref?.replace('#/definitions/', '');
  const target = name === undefined ? undefined : root.definitions?.[name];
  const others = [
    ...(target === undefined ? [] : [target]),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ];
  return [schema, ...others.flatMap((other) => expand(root, other, depth + 1))];
}

/** A kustomization needs no kind. */
const kustomizationField =
  /^(?:resources|components|bases|patches\w*|name(?:space|Prefix|Suffix)|labels|common\w+|images|replicas|replacements|configMapGenerator|secretGenerator|generatorOptions|generators|transformers|validators):/m;

/** The definition for a document of this kind. */
export function definitionOf(text: string): string | undefined {
  const value = (key: string) => new RegExp(`^${key}:\\s*["']?([\\w./]+)`, 'm').exec(text)?.[1];
  switch (value('kind')) {
    case 'PolicyException':
      return value('apiVersion')?.startsWith('policies.kyverno.io/') ? 'celException' : 'exception';
    case 'MutatingPolicy':
    case 'NamespacedMutatingPolicy':
      return 'mutatingPolicy';
    case 'MutatingAdmissionPolicy':
      return 'mutatingAdmissionPolicy';
    case 'MutatingAdmissionPolicyBinding':
      return 'mutatingAdmissionPolicyBinding';
    case 'Kustomization':
    case 'Component':
      return 'kustomization';
    case undefined:
      return kustomizationField.test(text) ? 'kustomization' : undefined;
    case 'ClusterPolicy':
      return 'policy';
    case 'Policy':
      return value('apiVersion')?.endsWith('v1alpha1') ? 'oldPolicy' : 'policy';
    default:
      return undefined;
  }
}
