import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import { resourceOf } from '../../policy/resource-name.ts';
import { formatText } from '../../yaml/scalar-text.ts';
import type { ExitCode, Io } from '../io.ts';
import { checkName, writeStarter } from './output.ts';

export interface CreatePolicyOptions {
  readonly kind: readonly string[];
  readonly namespace?: string | undefined;
  /** A MutatingPolicy instead of a ClusterPolicy. */
  readonly cel?: boolean | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** `kymera create policy`: a small policy to start from. */
export async function createPolicy(name: string, options: CreatePolicyOptions, io: Io): Promise<ExitCode> {
  checkName(name);
  if (options.namespace !== undefined) checkName(options.namespace);
  const { kind, namespace } = options;
  const text =
    options.cel === true ? celPolicyText(name, kind, namespace) : policyText(name, kind, namespace);
  await writeStarter(text, options, io);
  return 0;
}

function celPolicyText(name: string, kinds: readonly string[], namespace: string | undefined): string {
  const metadata = namespace === undefined ? `  name: ${name}` : `  name: ${name}\n  namespace: ${namespace}`;
  return `# Try it:  kymera apply POLICY -r RESOURCE      Check expressions:  kymera validate POLICY
apiVersion: policies.kyverno.io/v1
kind: ${namespace === undefined ? 'MutatingPolicy' : 'NamespacedMutatingPolicy'}
metadata:
${metadata}
spec:
  matchConstraints:
    resourceRules:
${kinds.map(resourceRule).join('\n')}
  # All conditions must be true. Use has() for fields that may be absent.
  matchConditions:
  - name: has-no-owner
    expression: "!has(object.metadata.labels) || !('owner' in object.metadata.labels)"
  # Evaluated when they are first read.
  variables:
  - name: owner
    expression: "'nobody'"
  mutations:
  # The part of the object to set. Types follow the field names: Object.spec is the type of spec.
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{
          metadata: Object.metadata{
            labels: {"owner": variables.owner}
          }
        }
`;
}

/** A kind is \`Pod\`, or \`apps/v1/Deployment\`; the group of built-in kinds is known. */
function resourceRule(text: string): string {
  const { group, version, kind } = parseKind(text) ?? { group: '*', version: '*', kind: text };
  const known = Object.keys(mergeKinds).findLast(
    (name) => name.endsWith(`/${kind}`) && !/alpha|beta/.test(name),
  );
  const [, knownVersion, knownGroup = ''] = (known ?? '').split('/').reverse();
  const groups = group === '*' && known !== undefined ? knownGroup : group;
  const versions = version === '*' && knownVersion !== undefined ? knownVersion : version;
  return `    - apiGroups: [${JSON.stringify(groups)}]
      apiVersions: [${JSON.stringify(versions)}]
      resources: [${JSON.stringify(resourceOf(kind))}]
      operations: [CREATE, UPDATE]`;
}

function policyText(name: string, kinds: readonly string[], namespace: string | undefined): string {
  const metadata = namespace === undefined ? `  name: ${name}` : `  name: ${name}\n  namespace: ${namespace}`;
  return `# Try it:  kymera apply POLICY -r RESOURCE      Test it:  kymera create test POLICY -r RESOURCE
apiVersion: kyverno.io/v1
kind: ${namespace === undefined ? 'ClusterPolicy' : 'Policy'}
metadata:
${metadata}
spec:
  # Whether the rules also run on existing objects. Rules that use user names require false.
  background: false
  rules:
  - name: add-labels
    match:
      any:
      - resources:
          kinds:
${kinds.map((kind) => `          - ${formatText(kind)}`).join('\n')}
          # names: ["web-*"]
          # selector: {matchLabels: {app: web}}
    # Further conditions on the request:
    preconditions:
      all:
      - key: "{{ request.operation }}"
        operator: AnyIn
        value: [CREATE, UPDATE]
    mutate:
      # The part of the object to set. A key in parentheses is a condition. With a + the field is added only
      # if it is absent.
      patchStrategicMerge:
        metadata:
          labels:
            +(owner): nobody
`;
}
