import type { ApiClient } from '../api/client.ts';
import type { Discovery } from '../api/discovery.ts';
import { type Informer, startInformer } from '../api/informer.ts';
import { managedSelector } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface FollowOptions {
  readonly client: ApiClient;
  readonly discovery: Discovery;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

const kinds = [
  ['MutatingAdmissionPolicy', resourceTypes.admissionPolicies],
  ['MutatingAdmissionPolicyBinding', resourceTypes.admissionPolicyBindings],
] as const;

/** Calls when a generated object was edited or deleted by hand. Older API servers do not serve the kinds. */
export function followAdmissionPolicies(options: FollowOptions): { stop(): Promise<void> } {
  const { client, discovery, onChange, onError } = options;
  const running = new Map<string, Informer>();
  const adapt = () => {
    for (const [kind, type] of kinds) {
      const isServed = discovery.current().kindOfResource(type) !== undefined;
      const informer = running.get(kind);
      if (isServed && informer === undefined) {
        const select = { labelSelector: managedSelector, metadataOnly: true };
        running.set(kind, startInformer({ client, type, kind, select, onChange, onError }));
      } else if (!isServed && informer !== undefined) {
        running.delete(kind);
        void informer.stop();
      }
    }
  };
  adapt();
  const unsubscribe = discovery.onChange(adapt);
  return {
    async stop() {
      unsubscribe();
      await Promise.all([...running.values()].map((informer) => informer.stop()));
    },
  };
}
