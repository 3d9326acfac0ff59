import { PatchError } from '../compiled-patch.ts';
import { FieldPathError, splitFieldPath } from '../field-path/field-path.ts';

/** Names the path, and whose path it is, in what goes wrong there. */
export function inPath<T>(path: string, owner: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    const message = `field path '${path}' of ${owner}: ${error.message}`;
    throw new PatchError('KYM_REPLACEMENT_FAILED', splitFieldPath(path), message, { cause: error });
  }
}
