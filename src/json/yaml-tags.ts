import type { ScalarTag } from 'yaml';
import { decodeBase64, resolveYamlScalar } from './yaml-scalar.ts';

/**
 * Schema options that make the `yaml` package read scalars as Kubernetes does:
 * `parseDocument(text, { ...kubernetesSchema, lineCounter })`.
 */
export const kubernetesSchema = {
  version: '1.2',
  schema: 'failsafe',
  merge: true,
  customTags: (tags: Tags): Tags => [
    ...tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:str'),
    ...typedScalars,
    ...tags.filter((tag) => typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:str'),
  ],
} as const;

type Tags = import('yaml').Tags;

const typed = (tag: string, test: RegExp): ScalarTag => ({
  tag: `tag:yaml.org,2002:${tag}`,
  default: true,
  test,
  resolve: (text, onError) => {
    try {
      return resolveYamlScalar(text);
    } catch (error) {
      onError(error instanceof Error ? error.message : String(error));
      return text;
    }
  },
});

/** The tests only have to let through everything that may not be text: the resolver decides. */
const typedScalars: Tags = [
  typed('null', /^(?:|~|null|Null|NULL)$/),
  typed('bool', /^(?:[yYnN]|[yYnN][eEoO]?[sS]?|[oO][nN]|[oO][fF]{2}|[tT]rue|TRUE|[fF]alse|FALSE)$/),
  typed('int', /^[-+]?[0-9][0-9a-fA-FxXoObB_]*$/),
  typed('float', /^[-+]?(?:\.(?:[iI]nf|INF|nan|NaN|NAN|[0-9])|[0-9])[-+0-9.eE_]*$/),
  { tag: 'tag:yaml.org,2002:timestamp', resolve: (text) => text },
  { tag: 'tag:yaml.org,2002:binary', resolve: decodeBase64 },
];
