import { compileWildcard } from '../../expression/wildcard.ts';
import { inputError } from '../../problem.ts';

/** Selects results of tests. */
export interface TestFilter {
  matches(subject: FilterSubject): boolean;
}

export interface FilterSubject {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
}

/**
 * `policy=a*,rule=b,resource=c` with wildcards; all parts must match. A part without `=` is a substring of policy, rule or resource.
 * With several filters, a result must match each of them.
 */
export function parseFilter(texts: readonly string[]): TestFilter | undefined {
  const tests = texts
    .flatMap((text) => text.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parsePart);
  if (tests.length === 0) return undefined;
  return { matches: (subject) => tests.every((test) => test(subject)) };
}

function parsePart(part: string): (subject: FilterSubject) => boolean {
  const equals = part.indexOf('=');
  if (equals < 0) {
    return ({ policy, rule, resource }) => [policy, rule, resource].some((text) => text.includes(part));
  }
  const key = part.slice(0, equals).trim();
  const pattern = compileWildcard(part.slice(equals + 1).trim());
  switch (key) {
    case 'policy':
    case 'rule':
      return (subject) => pattern.matches(subject[key]);
    case 'resource':
      // `web`, `shop/web` and `Pod shop/web` all match `Pod shop/web`.
      return ({ resource }) =>
        [resource, resource.replace(/^\S+ /, ''), resource.replace(/^.*[ /]/, '')].some((text) =>
          pattern.matches(text),
        );
    default:
      throw inputError('KYM_USAGE', `--filter ${part}: filters are policy=, rule=, resource= or a substring`);
  }
}
