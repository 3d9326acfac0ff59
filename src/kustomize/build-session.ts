import { mergeSchemaFor, type SchemaNode } from '../patch/merge-schema.ts';
import type { BuildOptions } from './build-context.ts';

/** What all kustomizations of one build share. */
export interface BuildSession {
  readonly options: BuildOptions;
  /** Origins are noted only when the kustomization that is built asks for them. */
  readonly notesOrigins: boolean;
  mergeSchema(apiVersion: string, kind: string): SchemaNode | undefined;
  /** The first schema that a kustomization names counts for the whole build. */
  useSchema(schema: SchemaLookup): void;
}

export type SchemaLookup = (apiVersion: string, kind: string) => SchemaNode | undefined;

export function createSession(options: BuildOptions, notesOrigins: boolean): BuildSession {
  let own: SchemaLookup | undefined;
  return {
    options,
    notesOrigins,
    mergeSchema: (apiVersion, kind) => (own ?? mergeSchemaFor)(apiVersion, kind),
    useSchema: (schema) => {
      own ??= schema;
    },
  };
}
