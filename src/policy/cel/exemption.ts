import type { Value } from '../../cel/value/value.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CelFailure, CelHost, CelSkip, CompiledCelException } from '../compiled-cel.ts';
import { failureOf } from './program.ts';

/** Why a policy does not run for an object, or the value of `exceptions`. */
export type Exemption =
  | { readonly failure: CelFailure }
  | { readonly skip?: CelSkip | undefined; readonly values: Readonly<Record<string, Value>> };

const noExceptions: Exemption = { values: {} };

/** A matching exception without lists exempts the object; the lists of others are joined for expressions. */
export function exemption(object: JsonObject | null, host: CelHost): Exemption {
  if (host.exceptions.length === 0) return noExceptions;
  const matching: CompiledCelException[] = [];
  let isExempted = false;
  for (const exception of host.exceptions) {
    if (exception.expiresAt !== undefined && exception.expiresAt < host.environment.now().getTime()) continue;
    try {
      if (!exception.matches(object, host)) continue;
      matching.push(exception);
      isExempted ||= exception.images.length === 0 && exception.allowedValues.length === 0;
    } catch (error) {
      const { code, detail } = failureOf(error, { path: ['spec'] });
      if (!isExempted)
        return { failure: { code, path: ['spec'], detail: `exception ${exception.key}: ${detail}` } };
    }
  }
  if (isExempted) {
    // As in Kyverno, the first one decides if none has a priority above 0.
    const most = Math.max(0, ...matching.map(({ priority }) => priority));
    const decides = matching.find(({ priority }) => priority === most) ?? matching[0];
    const exceptions = matching.map(({ key }) => key);
    return { skip: { type: 'exception', exceptions, report: decides?.report ?? 'skip' }, values: {} };
  }
  return {
    values: {
      exceptions: {
        allowedImages: matching.flatMap(({ images }) => images),
        allowedValues: matching.flatMap(({ allowedValues }) => allowedValues),
      },
    },
  };
}
