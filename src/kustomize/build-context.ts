import type { JsonObject } from '../json/value.ts';
import { mergeSchemaFor, type SchemaNode } from '../patch/merge-schema.ts';
import type { FieldSpecs } from './fields/field-specs.ts';
import type { SchemaLookup } from './fields/openapi-schema.ts';
import type { FileTree } from './kustomization/files.ts';
import type { KustomizationFolder } from './kustomization/folder.ts';
import type { PluginRole } from './plugins/plugin-name.ts';
import type { Plugin } from './plugins/runner.ts';
import type { Repositories } from './remote/repositories.ts';
import type { Resource } from './resource/resource.ts';
import type { ResourceSet } from './resource/resource-set.ts';
import type { BuildTrace } from './trace.ts';

export interface BuildOptions {
  readonly files: FileTree;
  /** What runs programs; undefined where that is impossible, as in a browser. */
  readonly programs?: Programs | undefined;
  /** Allow exec plugins and functions. */
  readonly enablePlugins: boolean;
  /** Allow functions that are executables. */
  readonly enableExec: boolean;
  /** Allow reading files outside of the kustomization's folder. */
  readonly unrestricted: boolean;
  /** Fetch nothing. */
  readonly offline?: boolean | undefined;
  /** Reads the file at an https address, with limits. Throws InputError. */
  readonly readAddress?: ((address: string) => Promise<string>) | undefined;
  /** How helm is called; undefined if charts are not allowed. */
  readonly helm?: HelmOptions | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Time and output limits for plugins. */
  readonly pluginLimits?: PluginLimits | undefined;
  /** Runs policies listed under `transformers`. */
  readonly policies?: PolicyRunner | undefined;
  /** Told about each stage. */
  readonly trace?: BuildTrace | undefined;
  /** Prints a warning; the build continues. */
  warn(text: string): void;
  /** Prints messages of a plugin that succeeded. */
  show(text: string): void;
}

/** The parts of a build that run git, helm and plugins. */
export interface Programs {
  createRepositories(options: BuildOptions): Repositories;
  /** The plugin for a config that is neither built in nor a policy. Throws if there is none. */
  pluginFor(config: JsonObject, role: PluginRole, context: BuildContext): Plugin;
  renderChart(config: JsonObject, field: string, context: BuildContext): Promise<readonly JsonObject[]>;
}

export interface HelmOptions {
  /** A name on the PATH, or a path. */
  readonly command: string;
  readonly kubeVersion?: string | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly debug?: boolean | undefined;
}

/** What the build stages of one kustomization share besides the resources. */
export interface BuildContext {
  readonly options: BuildOptions;
  readonly folder: KustomizationFolder;
  /** Merge keys of a kind, from the Kubernetes schema or the one in `openapi`. */
  mergeSchema(apiVersion: string, kind: string): SchemaNode | undefined;
  /** The fields that the built-in transformers change. */
  readonly fieldSpecs: FieldSpecs;
  /**
   * Loads entries of `generators`, `transformers` or `validators`: files with one or more documents, folders with a
   * kustomization, or inline YAML.
   */
  loadConfigs(entries: readonly string[], field: string): Promise<readonly Resource[]>;
  /**
   * Records for `buildMetadata` that a transformer ran on all resources of the set. `configuredBy` has apiVersion, kind,
   * name and namespace of the config; `configuredIn` is its file, by default the kustomization.
   */
  recordTransformer(set: ResourceSet, configuredBy: JsonObject, configuredIn?: string): void;
  /** Reports the resources after a stage, if the build is traced. `source` is the file that the field names. */
  readonly traced?: ((set: ResourceSet, field: string, source?: string) => void) | undefined;
  /** Parses resources from a patch, where annotations may be null, or from plugin output. */
  parseResources(text: string, file: string): readonly Resource[];
}

/** State shared by all kustomizations of one build. */
export interface BuildSession {
  readonly options: BuildOptions;
  /** Undefined if nothing can be fetched. */
  readonly repositories: Repositories | undefined;
  /** Whether the kustomization being built requests origin annotations. */
  readonly recordsOrigins: boolean;
  mergeSchema(apiVersion: string, kind: string): SchemaNode | undefined;
  /** The first schema that a kustomization names applies to the whole build. */
  useSchema(schema: SchemaLookup): void;
}

export function createSession(
  options: BuildOptions,
  recordsOrigins: boolean,
  repositories: Repositories | undefined,
): BuildSession {
  let own: SchemaLookup | undefined;
  return {
    options,
    repositories,
    recordsOrigins,
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

/** Runs policies on the resources of a build. Implemented by the command line. */
export interface PolicyRunner {
  /**
   * Returns the mutated objects in the same order. Throws KustomizeError if a policy is invalid or a rule fails.
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
  /** Its folder; file names in a config are relative to it. */
  readonly root: string;
  /** Reads a file that a config names. Throws for files outside of the root. */
  readText(path: string, field: string): string;
}
