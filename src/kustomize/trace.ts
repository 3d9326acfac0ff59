import type { Json, JsonObject, Path } from '../json/value.ts';
import type { Resource } from './resource/resource.ts';
import type { ResourceSet } from './resource/resource-set.ts';

/** Follows a build. */
export interface BuildTrace {
  /** Called with the resources of a kustomization after each of its stages. */
  after(stage: BuildStage, set: ResourceSet): void;
  /** Called for each replacement, before `after` for its stage. */
  replaced(replacement: TracedReplacement): void;
}

export interface BuildStage {
  /** The kustomization file, for messages. */
  readonly file: string;
  /** What the kustomization says: `patches[0]`. Undefined for a stage of every build. */
  readonly field?: string | undefined;
  /** What a stage without field does: `adds hashes to names`. */
  readonly title?: string | undefined;
  /** The file that the field names, or the folder. */
  readonly source?: string | undefined;
}

export interface TracedReplacement {
  readonly file: string;
  readonly field: string;
  /** Undefined for a `sourceValue`. */
  readonly source?: TracedField | undefined;
  readonly value: Json;
  readonly targets: readonly TracedTarget[];
}

export interface TracedField {
  readonly resource: Resource;
  readonly path: Path;
}

export interface TracedTarget extends TracedField {
  /** As written in the kustomization. */
  readonly options?: JsonObject | undefined;
}

/** A stage with what it did. Objects are immutable, so that keeping them costs little. */
export interface RecordedStage extends BuildStage {
  /** The resources of the kustomization after the stage. */
  readonly resources: readonly RecordedResource[];
  /** Those that the stage added, changed or removed. */
  readonly changes: readonly RecordedChange[];
  /** Resources that another kustomization built. */
  readonly joined: readonly RecordedResource[];
  readonly replacements: readonly TracedReplacement[];
}

export interface RecordedResource {
  /** The same in all stages. */
  readonly resource: Resource;
  readonly object: JsonObject;
}

export interface RecordedChange {
  readonly resource: Resource;
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
}

export interface TraceRecorder extends BuildTrace {
  readonly stages: readonly RecordedStage[];
}

/** Keeps every stage. Stages of every build are kept only if they change something. */
export function recordTrace(): TraceRecorder {
  const stages: RecordedStage[] = [];
  const known = new Map<Resource, JsonObject>();
  const members = new WeakMap<ResourceSet, ReadonlySet<Resource>>();
  let replacements: TracedReplacement[] = [];
  return {
    stages,
    replaced: (replacement) => void replacements.push(replacement),
    after(stage, set) {
      const resources = set.list().map((resource) => ({ resource, object: resource.object }));
      const before = members.get(set) ?? new Set();
      const now = new Set(resources.map(({ resource }) => resource));
      const joined = resources.filter(({ resource }) => !before.has(resource) && known.has(resource));
      const changes: RecordedChange[] = [];
      for (const { resource, object } of resources) {
        const previous = known.get(resource);
        if (previous !== object) changes.push({ resource, before: previous, after: object });
        known.set(resource, object);
      }
      for (const resource of before) {
        if (!now.has(resource)) changes.push({ resource, before: known.get(resource) });
      }
      members.set(set, now);
      if (stage.field === undefined && changes.length === 0) return;
      stages.push({ ...stage, resources, changes, joined, replacements });
      replacements = [];
    },
  };
}
