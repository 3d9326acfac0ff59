import { formatText } from '../../yaml/scalar-text.ts';
import type { ExitCode, Io } from '../io.ts';
import { checkName, writeStarter } from './output.ts';

export interface CreatePolicyOptions {
  readonly kind: readonly string[];
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** `kymera create policy`: a small policy to start from. */
export async function createPolicy(name: string, options: CreatePolicyOptions, io: Io): Promise<ExitCode> {
  checkName(name);
  if (options.namespace !== undefined) checkName(options.namespace);
  await writeStarter(policyText(name, options.kind, options.namespace), options, io);
  return 0;
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
