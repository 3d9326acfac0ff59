import { metadataOf } from '../json/metadata.ts';
import type { JsonObject, Path } from '../json/value.ts';
import { PatchError } from '../patch/compiled-patch.ts';

/** Kubernetes refuses changes of these fields; a rule that makes one fails here, before the API server sees it. */
export function assertSameIdentity(before: JsonObject, after: JsonObject): void {
  if (before === after) return;
  if (before.apiVersion !== after.apiVersion) fail(['apiVersion']);
  if (before.kind !== after.kind) fail(['kind']);
  const old = metadataOf(before);
  const current = metadataOf(after);
  if (old === current) return;
  if (old.name !== current.name) fail(['metadata', 'name']);
  if (old.namespace !== current.namespace) fail(['metadata', 'namespace']);
  if (old.uid !== current.uid) fail(['metadata', 'uid']);
}

function fail(path: Path): never {
  throw new PatchError(
    'KYM_IDENTITY_CHANGED',
    path,
    `the rule changes ${path.join('.')}, which Kubernetes does not allow`,
  );
}
