import type { JsonObject } from '../json/value.ts';
import { mergeSchemaFor, type SchemaNode } from '../patch/merge-schema.ts';
import type { FieldSpecs } from './fields/field-specs.ts';
import type { SchemaLookup } from './fields/openapi-schema.ts';
import type { KustomizationFolder } from './kustomization/folder.ts';
import type { Resource } from './resource/resource.ts';
import type { ResourceSet } from './resource/resource-set.ts';

export interface BuildOptions {
  /** Exec plugins and functions may run. */
  readonly enablePlugins: boolean;
  /** Functions that are executables may run. */
  readonly enableExec: boolean;
  /** Files outside the folder of a kustomization may be read. */
  readonly unrestricted: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How long a plugin may run and how much it may print. */
  readonly pluginLimits?: PluginLimits | undefined;
  /** Runs policies that a kustomization lists as transformers. */
  readonly policies?: PolicyRunner | undefined;
  /** Prints a line of advice; the build goes on. */
  warn(text: string): void;
}

/** What the stages of one kustomization know besides the resources. */
export interface BuildContext {
  readonly options: BuildOptions;
  readonly folder: KustomizationFolder;
  /** Merge keys of a kind: those of Kubernetes, or of the schema that `openapi` names. */
  mergeSchema(apiVersion: string, kind: string): SchemaNode | undefined;
  /** Which fields the built-in transformers reach. */
  readonly fieldSpecs: FieldSpecs;
  /**
   * Resources that entries of `generators`, `transformers` or `validators` name: files with one or more documents,
   * folders with a kustomization, or inline texts.
   */
  loadConfigs(entries: readonly string[], field: string): Promise<readonly Resource[]>;
  /**
   * Notes for `buildMetadata` that a transformer went over all resources of the set. What a config states is its
   * apiVersion, kind, name and namespace; `configuredIn` is its file, the kustomization when absent.
   */
  noteTransformer(set: ResourceSet, configuredBy: JsonObject, configuredIn?: string): void;
  /** Resources in a YAML text: a patch, where an annotation may be null, or what a plugin printed. */
  parseResources(text: string, file: string): readonly Resource[];
}

/** What all kustomizations of one build share. */
export interface BuildSession {
  readonly options: BuildOptions;
  /** Origins are noted only when the kustomization that is built asks for them. */
  readonly notesOrigins: boolean;
  mergeSchema(apiVersion: string, kind: string): SchemaNode | undefined;
  /** The first schema that a kustomization names counts for the whole build. */
  useSchema(schema: SchemaLookup): void;
}

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

export interface PluginLimits {
  readonly milliseconds: number;
  readonly outputBytes: number;
}

export const defaultPluginLimits: PluginLimits = { milliseconds: 60_000, outputBytes: 32 * 1024 * 1024 };

/** Runs policies over the resources of a build: the program around the build knows how. */
export interface PolicyRunner {
  /**
   * The objects as the policies leave them, in the same order. Throws KustomizeError when a policy is not well-formed or
   * a rule fails.
   */
  run(
    policies: readonly JsonObject[],
    objects: readonly JsonObject[],
    place: PolicyPlace,
  ): Promise<readonly JsonObject[]>;
}

export interface PolicyPlace {
  /** The kustomization that lists the policies. */
  readonly file: string;
  /** Its folder, to which files that a config names are relative. */
  readonly root: string;
  /** Text of a file that a config names; throws outside the root. */
  readText(path: string, field: string): string;
}
