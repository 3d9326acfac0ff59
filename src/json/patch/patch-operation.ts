import type { Json } from '../value.ts';

/** What our own diff emits. Paths are RFC 6901 pointers. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** What a user may write: all of RFC 6902. */
export type UserPatchOperation =
  | PatchOperation
  | { readonly op: 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };
