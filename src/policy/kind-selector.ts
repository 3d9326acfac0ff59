import { compileWildcard } from '../expression/wildcard.ts';
import type { KindSelector } from './compiled.ts';
import { resourceOf } from './resource-name.ts';

/** A part that is a version rather than a group or a kind. */
const version = /^(v\d+((alpha|beta)\d+)?|\*)$/;

interface KindParts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly subresource: string;
}

/** Reads `Kind`, `version/Kind`, `group/version/Kind`, each with `/sub` or `.sub`; undefined for more than four parts. */
export function parseKind(text: string): KindParts | undefined {
  const slashed = text.split('/');
  const [a = '', b = '', c = '', d = '', ...rest] = [
    ...slashed.slice(0, -1),
    ...(slashed.at(-1) ?? '').split('.'),
  ];
  const any = '*';
  if (rest.length > 0) return undefined;
  if (d !== '') return { group: a, version: b, kind: c, subresource: d };
  if (c !== '') {
    if (version.test(a)) return { group: any, version: a, kind: b, subresource: c };
    return { group: a, version: b, kind: c, subresource: '' };
  }
  if (b === '') return { group: any, version: any, kind: a, subresource: '' };
  // `*/*` is every kind with every subresource; `*/scale` is the subresource scale of every kind.
  if (a === any && (b === any || b === b.toLowerCase()))
    return { group: any, version: any, kind: any, subresource: b };
  if (version.test(a)) return { group: any, version: a, kind: b, subresource: '' };
  return { group: any, version: any, kind: a, subresource: b };
}

export function compileKind(text: string): KindSelector | undefined {
  const parts = parseKind(text);
  if (parts === undefined) return undefined;
  return {
    text,
    group: compileWildcard(parts.group),
    version: compileWildcard(parts.version),
    kind: compileWildcard(parts.kind),
    subresource: compileWildcard(parts.subresource),
  };
}

/** The resource of a request; group, version and kind are those of the top-level resource. */
export interface KindKey {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly subresource: string;
  /** The plural name; by the rule for built-in kinds if it is not known. */
  readonly resource?: string | undefined;
}

/** A plain `Pod` also matches its ephemeralcontainers subresource. */
export function matchesKind(selector: KindSelector, key: KindKey): boolean {
  if (selector.resource !== undefined) {
    return (
      selector.resource.matches(key.resource ?? resourceOf(key.kind)) &&
      selector.version.matches(key.version) &&
      selector.group.matches(key.group) &&
      selector.subresource.matches(key.subresource)
    );
  }
  return (
    selector.kind.matches(key.kind) &&
    selector.version.matches(key.version) &&
    selector.group.matches(key.group) &&
    (selector.subresource.matches(key.subresource) ||
      (selector.subresource.pattern === '' &&
        key.subresource === 'ephemeralcontainers' &&
        key.kind === 'Pod' &&
        key.group === '' &&
        key.version === 'v1'))
  );
}
