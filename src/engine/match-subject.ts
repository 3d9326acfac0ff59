import { metadataOf, textOf } from '../json/metadata.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';
import type { KindKey } from '../policy/kind-selector.ts';
import type { Request, RequestUser } from './request.ts';

/** What match and exclude blocks are compared with: an object as it is now, and the request around it. */
export class MatchSubject {
  readonly #metadata: JsonObject;
  readonly #surroundings: SubjectSurroundings;

  constructor(object: JsonObject, surroundings: SubjectSurroundings) {
    const { stated } = surroundings;
    const metadata = metadataOf(object);
    this.#metadata = stated === undefined ? metadata : { ...stated, ...metadata };
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
  /** See `statedIdentity`. */
  readonly stated: JsonObject | undefined;
  namespaceLabels(namespace: string): JsonObject;
}

const noMembers: JsonObject = {};

/**
 * Name and namespace of what the request is about, where its body has no metadata to tell them: options of a connection
 * (`Pod/exec`) have none.
 */
export function statedIdentity({ object, oldObject, name, namespace }: Request): JsonObject | undefined {
  const body = object ?? oldObject;
  return body === null || isObject(body['metadata']) ? undefined : { name, namespace };
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : noMembers;
}
