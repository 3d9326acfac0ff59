import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { mergeSchemaFor } from '../../patch/merge-schema.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { declaredSchema } from '../../patch/structured/declared.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import { compileKind, matchesKind } from '../../policy/kind-selector.ts';
import { commonSchema } from '../expression/common-schema.ts';
import type { KindSchema } from './target.ts';

const custom: KindSchema = {
  merge: undefined,
  declared: declaredSchema({}),
  isApplied: false,
  checksTypes: true,
};

/** The schemas of all kinds that a rule matches. A kind that is not built in has only its metadata. */
export function schemasOf(kinds: readonly string[]): readonly KindSchema[] {
  return kinds.flatMap((text) => {
    const selector = compileKind(text);
    if (selector === undefined) return [custom];
    const found = Object.keys(mergeKinds).flatMap((name) => {
      const slash = name.lastIndexOf('/');
      const [apiVersion, kind] = [name.slice(0, slash), name.slice(slash + 1)];
      const declared = builtInSchema(apiVersion, kind);
      const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
      const matches = matchesKind(selector, {
        group,
        version,
        kind,
        subresource: selector.subresource.pattern,
      });
      return declared !== undefined && matches
        ? [{ merge: mergeSchemaFor(apiVersion, kind), declared, isApplied: true }]
        : [];
    });
    const isOpen = /[*?]/.test(text.split('/').at(-1) ?? '');
    return found.length === 0 || isOpen
      ? [...found.map((schema) => ({ ...schema, isApplied: false })), custom]
      : found;
  });
}

/** What the kinds have in common: with a kind that is not built in, only the metadata. */
export function declaredBy(schemas: readonly KindSchema[]): StructuredSchema | undefined {
  if (schemas.includes(custom)) return custom.declared;
  return commonSchema(schemas.flatMap(({ declared }) => declared ?? []));
}
