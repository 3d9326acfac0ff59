import { imagesOf } from '../../expression/image.ts';
import type { Environment, Scope } from '../../expression/scope.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { Request } from '../request.ts';

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** The variables of a request that do not depend on changes to its object. Computed once, on first use. */
export class RequestFacts {
  readonly request: Request;
  readonly environment: Environment;
  #images: { readonly value: JsonObject | undefined } | undefined;
  #serviceAccount: { readonly name: string; readonly namespace: string } | undefined;

  constructor(request: Request, environment: Environment) {
    this.request = request;
    this.environment = environment;
  }

  /** Images of the incoming object, not affected by earlier rules. Undefined for kinds without containers. */
  get images(): JsonObject | undefined {
    if (this.#images === undefined) {
      const object = this.request.object ?? this.request.oldObject;
      const { imageDefaults } = this.environment;
      this.#images = {
        value: object === null ? undefined : imagesOf(object, this.request.kind.kind, imageDefaults),
      };
    }
    return this.#images.value;
  }

  get serviceAccount(): { readonly name: string; readonly namespace: string } {
    this.#serviceAccount ??= parseServiceAccount(this.request.user?.info.username ?? '');
    return this.#serviceAccount;
  }
}

/** The outermost scope of a rule: the request, with its object as earlier rules left it. */
export class RequestScope implements Scope {
  readonly environment: Environment;
  readonly #facts: RequestFacts;
  readonly #object: JsonObject | null;
  #request: JsonObject | undefined;

  constructor(facts: RequestFacts, object: JsonObject | null, environment = facts.environment) {
    this.environment = environment;
    this.#facts = facts;
    this.#object = object;
  }

  lookup(name: string): Json | undefined {
    switch (name) {
      case 'request':
        this.#request ??= requestVariable(this.#facts.request, this.#object);
        return this.#request;
      case 'images':
        return this.#facts.images;
      case 'serviceAccountName':
        return this.#facts.serviceAccount.name;
      case 'serviceAccountNamespace':
        return this.#facts.serviceAccount.namespace;
      default:
        return undefined;
    }
  }

  snapshot(): JsonObject {
    const names = ['request', 'images', 'serviceAccountName', 'serviceAccountNamespace'];
    const bound: Record<string, Json> = {};
    for (const name of names) {
      const value = this.lookup(name);
      if (value !== undefined) bound[name] = value;
    }
    return bound;
  }
}

function requestVariable(request: Request, object: JsonObject | null): JsonObject {
  // On DELETE there is no new object. As in Kyverno, `request.object` then yields the old one.
  const visible = object ?? request.oldObject;
  return { ...request.variables, object: visible };
}

/** Both are empty unless the user is a service account. */
function parseServiceAccount(username: string): { readonly name: string; readonly namespace: string } {
  if (!username.startsWith(SERVICE_ACCOUNT)) return { name: '', namespace: '' };
  const rest = username.slice(SERVICE_ACCOUNT.length);
  const colon = rest.indexOf(':');
  if (colon < 0) return { name: '', namespace: '' };
  return { namespace: rest.slice(0, colon), name: rest.slice(colon + 1) };
}
