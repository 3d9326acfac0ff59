import type { JsonObject } from '../json/value.ts';
import type { SchemaNode } from '../patch/merge-schema.ts';
import type { FieldSpecs } from './fields/field-specs.ts';
import type { PluginLimits } from './plugins/process.ts';
import type { Resource } from './resource/resource.ts';
import type { ResourceSet } from './resource/resource-set.ts';
import type { PolicyRunner } from './transformers/policy-transformer.ts';

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

/** The folder of one kustomization, and what may be read from there. */
export interface KustomizationFolder {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** The kustomization file as the user would name it, for messages. */
  readonly file: string;
  /** The file relative to the folder that is built, for `configuredIn`. */
  readonly configuredIn: string;
  /** Text of a file that a field names; throws outside the root and for URLs. */
  readText(path: string, field: string): string;
  readBytes(path: string, field: string): Uint8Array;
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
