import type { JsonObject } from '../json/value.ts';
import type { BuildContext } from './build-context.ts';
import type { Resource } from './resource.ts';
import type { ResourceSet } from './resource-set.ts';

/** A transformer that a config of `apiVersion: builtin` names by its kind. */
export type BuiltinTransformer = (set: ResourceSet, config: JsonObject, context: BuildContext) => void;
/** A generator that a config of `apiVersion: builtin` names by its kind: the resources it makes. */
export type BuiltinGenerator = (config: JsonObject, context: BuildContext) => readonly Resource[];

/** PrefixTransformer, LabelTransformer …; those of patches and replacements are added by the plugin stage. */
export const coreTransformers: ReadonlyMap<string, BuiltinTransformer> = new Map();

/** ConfigMapGenerator and SecretGenerator. */
export const coreGenerators: ReadonlyMap<string, BuiltinGenerator> = new Map();
