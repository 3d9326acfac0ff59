import { removeMember, setMember } from '../../json/edit.ts';
import { equal } from '../../json/equal.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId, describeId, idKey, idOf } from '../resource/resource.ts';
import { copyResourceSet, type ResourceSet } from '../resource/resource-set.ts';
import { withoutBuildAnnotations } from './annotations.ts';

/** Runs a validator on a copy. It may report errors but must not change resources. */
export async function validateBy(
  title: string,
  set: ResourceSet,
  transform: (copy: ResourceSet) => Promise<void>,
): Promise<void> {
  const copy = copyResourceSet(set);
  await transform(copy);
  const after = new Map(copy.list().map(({ object }) => [idKey(idOf(object)), object]));
  for (const resource of set.list()) {
    const id = currentId(resource);
    const object = after.get(idKey(id));
    if (object === undefined) throw changed(title, `removed ${describeId(id)}`);
    after.delete(idKey(id));
    if (!equal(withoutValidatedBy(object), withoutValidatedBy(resource.object)))
      throw changed(title, `changed ${describeId(id)}`);
  }
  const [added] = after.values();
  if (added !== undefined) throw changed(title, `added ${describeId(idOf(added))}`);
}

/** A validator may set the label `validated-by`. */
function withoutValidatedBy(object: JsonObject): JsonObject {
  const plain = withoutBuildAnnotations(object);
  const metadata = member(plain, 'metadata');
  const labels = isObject(metadata) ? member(metadata, 'labels') : undefined;
  if (!isObject(metadata) || !isObject(labels) || !Object.hasOwn(labels, 'validated-by')) return plain;
  const kept = removeMember(labels, 'validated-by');
  return setMember(
    plain,
    'metadata',
    Object.keys(kept).length === 0 ? removeMember(metadata, 'labels') : setMember(metadata, 'labels', kept),
  );
}

function changed(title: string, what: string): KustomizeError {
  return new KustomizeError('KYM_PLUGIN_CHANGED', `${title} ${what}: a validator must not change resources`);
}
