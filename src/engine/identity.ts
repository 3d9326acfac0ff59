import type { JsonObject, Path } from '../json/value.ts';
import { PatchError } from '../patch/compiled-patch.ts';
import { metadataOf } from './match-subject.ts';

const TYPE_FIELDS = ['apiVersion', 'kind'] as const;
const NAME_FIELDS = ['name', 'namespace', 'uid'] as const;

/** Kubernetes refuses changes of these fields; a rule that makes one fails here, before the API server sees it. */
export function assertSameIdentity(before: JsonObject, after: JsonObject): void {
  if (before === after) return;
  for (const field of TYPE_FIELDS) {
    if (before[field] !== after[field]) fail([field]);
  }
  const old = metadataOf(before);
  const current = metadataOf(after);
  if (old === current) return;
  for (const field of NAME_FIELDS) {
    if (old[field] !== current[field]) fail(['metadata', field]);
  }
}

function fail(path: Path): never {
  throw new PatchError(
    'KYM_IDENTITY_CHANGED',
    path,
    `the rule changes ${path.join('.')}, which Kubernetes does not allow`,
  );
}
