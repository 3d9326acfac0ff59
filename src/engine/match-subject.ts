import { metadataOf, textOf } from '../json/metadata.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';
import type { KindKey } from '../policy/kind-selector.ts';
import type { Request, RequestUser } from './request.ts';

/** The subject of match and exclude blocks: the current object and its request. */
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

  /** For an object without a name: its generateName prefix. */
  get name(): string {
    return textOf(this.#metadata['name']) || this.generateName;
  }

  get generateName(): string {
    return textOf(this.#metadata['generateName']);
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

  /** Read only when a namespaceSelector needs them. */
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
 * Name and namespace from the request, for bodies without metadata such as the options of a connection
 * (`Pod/exec`).
 */
export function statedIdentity({ object, oldObject, name, namespace }: Request): JsonObject | undefined {
  const body = object ?? oldObject;
  return body === null || isObject(body['metadata']) ? undefined : { name, namespace };
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : noMembers;
}
