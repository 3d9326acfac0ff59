import { kindOf } from '../../admission/resource-request.ts';
import { backgroundRules } from '../../background/background-rule.ts';
import { refKey, refOf } from '../../background/object-identity.ts';
import type { ObjectReader } from '../../background/ports.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, KindSelector } from '../../policy/compiled.ts';
import { inputError } from '../../problem.ts';

/** The objects of the kinds that background rules match. The rules decide later whether an object matches. */
export async function findTriggers(
  policies: readonly CompiledPolicy[],
  reader: ObjectReader,
  wanted: readonly string[] = [],
  namespace?: string,
): Promise<readonly JsonObject[]> {
  const isWanted = wanted.map(parseTrigger);
  const found = new Map<string, JsonObject>();
  for (const selector of kindsOf(policies)) {
    const query = { apiVersion: '*', kind: selector.kind.pattern, resource: selector.resource?.pattern };
    for (const object of await reader.list(namespace === undefined ? query : { ...query, namespace })) {
      const { group, version } = kindOf(object);
      const fits = selector.group.matches(group) && selector.version.matches(version);
      if (fits && (isWanted.length === 0 || isWanted.some((test) => test(object)))) {
        found.set(refKey(refOf(object)), object);
      }
    }
  }
  return [...found.values()];
}

function kindsOf(policies: readonly CompiledPolicy[]): readonly KindSelector[] {
  const selectors = policies
    .flatMap(backgroundRules)
    .flatMap(({ rule }) => rule.match.any ?? rule.match.all ?? [])
    .flatMap(({ kinds }) => kinds ?? []);
  return [...new Map(selectors.map((selector) => [selector.text, selector])).values()];
}

/** `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
function parseTrigger(text: string): (object: JsonObject) => boolean {
  const parts = text.split('/');
  if (parts.length > 3 || parts.includes('')) {
    throw inputError('KYM_USAGE', `--trigger ${text}: write NAME, KIND/NAME or KIND/NAMESPACE/NAME`);
  }
  const [name = '*', ...rest] = parts.toReversed().map(compileWildcard);
  const kind = rest.at(-1);
  const namespace = rest.length > 1 ? rest[0] : undefined;
  return (object) => {
    const ref = refOf(object);
    return (
      (name === '*' || name.matches(ref.name)) &&
      (kind === undefined || kind.matches(ref.kind)) &&
      (namespace === undefined || namespace.matches(ref.namespace))
    );
  };
}
