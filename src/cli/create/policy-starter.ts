import { formatText } from '../../yaml/scalar-text.ts';
import type { ExitCode, Io } from '../io.ts';
import { checkName, writeStarter } from './output.ts';

export interface CreatePolicyOptions {
  readonly kind: readonly string[];
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** `kymera create policy`: a small policy to begin with. */
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
  # Whether the rules also look at objects that are there already; user names can only be used without it.
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
    # Further conditions, over anything in the request:
    preconditions:
      all:
      - key: "{{ request.operation }}"
        operator: AnyIn
        value: [CREATE, UPDATE]
    mutate:
      # A part of the object as it should be. A key in parentheses is a condition; with a + it is added
      # only where it is not there yet.
      patchStrategicMerge:
        metadata:
          labels:
            +(owner): nobody
`;
}
