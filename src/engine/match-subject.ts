import { isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';
import type { KindKey } from '../policy/kind-selector.ts';
import type { RequestUser } from './request.ts';

/** What match and exclude blocks are compared with: an object as it is now, and the request around it. */
export class MatchSubject {
  readonly #metadata: JsonObject;
  readonly #surroundings: SubjectSurroundings;

  constructor(object: JsonObject, surroundings: SubjectSurroundings) {
    this.#metadata = metadataOf(object);
    this.#surroundings = surroundings;
  }

  get kind(): KindKey {
    return this.#surroundings.kind;
  }

  get operation(): Operation | undefined {
    return this.#surroundings.operation;
  }

  get user(): RequestUser | undefined {
    return this.#surroundings.user;
  }

  /** The prefix it will be generated from, for an object without a name. */
  get name(): string {
    return textOf(this.#metadata['name']) || textOf(this.#metadata['generateName']);
  }

  get namespace(): string {
    return textOf(this.#metadata['namespace']);
  }

  get labels(): JsonObject {
    return objectOf(this.#metadata['labels']);
  }

  get annotations(): JsonObject {
    return objectOf(this.#metadata['annotations']);
  }

  /** Read only when a namespaceSelector asks for them. */
  namespaceLabels(): JsonObject {
    const { namespace } = this;
    return namespace === '' ? noMembers : this.#surroundings.namespaceLabels(namespace);
  }
}

/** The same for every object of one request. */
export interface SubjectSurroundings {
  readonly kind: KindKey;
  readonly operation: Operation | undefined;
  readonly user: RequestUser | undefined;
  namespaceLabels(namespace: string): JsonObject;
}

const noMembers: JsonObject = {};

export function metadataOf(object: JsonObject): JsonObject {
  return objectOf(object['metadata']);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : noMembers;
}
