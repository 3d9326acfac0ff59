/** What to use instead of a flag of another program's command. Keys are long and short flags without dashes. */
type Advice = Readonly<Record<string, string>>;

const leaveOut = 'leave it out';
const clone = 'clone the repository with git, and name the folder';
const exitCodes =
  'mutate and generate rules have no warnings; exit codes are 0 (success), 1 (a rule failed) and 2 (invalid input)';
const strict = 'kymera validate --strict fails on warnings';
const messages =
  'messages go to standard error; set --log-level error, warn or info where the command has it';
const container = 'functions run as programs on this machine, not in containers; see --enable-plugins';

/** Flags that all commands of Kyverno have. */
const everywhere: Advice = {
  v: messages,
  add_dir_header: messages,
  alsologtostderr: messages,
  alsologtostderrthreshold: messages,
  legacy_stderr_threshold_behavior: messages,
  log_backtrace_at: messages,
  log_dir: messages,
  log_file: messages,
  log_file_max_size: messages,
  logtostderr: messages,
  one_output: messages,
  skip_headers: messages,
  skip_log_headers: messages,
  stderrthreshold: messages,
  vmodule: messages,
  'stack-trace': leaveOut,
  kubeconfig: 'this command reads files only',
};

/** By command. */
export const foreignFlags: Readonly<Record<string, Advice>> = {
  apply: {
    'audit-warn': exitCodes,
    'batch-size': leaveOut,
    concurrent: leaveOut,
    'show-performance': leaveOut,
    'cluster-wide-resources': '--cluster reads cluster-wide objects, too',
    'context-file': 'supply context data with --values, and objects with --target-resource',
    'continue-on-error': 'invalid input is always an error, and nothing is written',
    'continue-on-fail': 'a failed rule never ends the run: leave it out',
    'crd-paths': 'name the files of CustomResourceDefinitions with --target-resource',
    'detailed-results': 'use -o table, or kymera explain',
    'envoy-payload': 'policies apply to Kubernetes objects only',
    'http-payload': 'policies apply to Kubernetes objects only',
    json: 'policies apply to Kubernetes objects only; -r reads JSON files',
    'exceptions-with-resources': 'name the files with -e as well',
    'exceptions-within-resources': 'name the files with -e as well',
    'exceptions-within-policies': 'exceptions in policy files are always read: leave it out',
    'generate-exceptions': 'kymera create exception writes a PolicyException',
    'generated-exception-ttl': 'kymera create exception writes a PolicyException',
    'git-branch': clone,
    b: clone,
    username: clone,
    password: clone,
    'output-format': 'use -o json or -o yaml',
    'parameter-resource': 'name the files with --target-resource',
    'policy-report': 'there are no policy reports; use -o table, or kymera test --report junit=FILE',
    p: 'there are no policy reports; use -o table, or kymera test --report junit=FILE',
    registry: 'supply image data with --values',
    'warn-exit-code': exitCodes,
    'warn-no-pass': exitCodes,
    'warnings-as-errors': strict,
  },
  test: {
    'git-branch': clone,
    b: clone,
    registry: 'supply image data in the variables of the test',
    'warnings-as-errors': strict,
  },
  'create test': {
    pass: 'the current results are recorded: leave it out',
    fail: 'the current results are recorded: leave it out',
    skip: 'the current results are recorded: leave it out',
    policy: 'name policies as arguments: kymera create test POLICY… -r RESOURCE…',
    p: 'name policies as arguments: kymera create test POLICY… -r RESOURCE…',
  },
  'create exception': {
    all: 'use --kind and --names',
    any: 'use --kind and --names',
    background: 'edit spec.background in the file',
    b: 'edit spec.background in the file',
    'policy-rules': 'name the policy as the argument, and its rules with --rule',
  },
  build: {
    'as-current-user': container,
    mount: container,
    network: container,
    'network-name': container,
    env: 'plugins get the environment of this process: set the variables before the command',
    e: 'plugins get the environment of this process: set the variables before the command',
    'enable-managedby-label': 'set buildMetadata: [managedByLabel] in the kustomization',
    'allow-id-changes': leaveOut,
    'enable-star': container,
  },
};

/** Commands of Kyverno, kustomize and others, and what to use here. */
const otherCommands: Advice = {
  'create values':
    'write a Values document, kind Values of cli.kyverno.io/v1alpha1, and name it with --values',
  'create user-info':
    'write a UserInfo document, kind UserInfo of cli.kyverno.io/v1alpha1, and name it with --userinfo',
  'create metrics-config': 'metrics are configured by the values of the chart',
  'create cluster-role': 'kymera rbac prints the roles that policies need',
  docs: 'kymera COMMAND --help',
  fix: 'kymera convert',
  kustomize: 'kymera build',
  render: 'kymera build',
  lint: 'kymera validate',
  check: 'kymera validate',
  mutate: 'kymera apply',
  plan: 'kymera existing plan',
  query: 'kymera jp query',
  edit: 'edit the kustomization file',
  cfg: 'kymera build',
  fn: 'kymera transform',
  localize: clone,
};

/** A hint for an option that another program has; undefined if it is not known. */
export function adviceOnFlag(command: string, flag: string): string | undefined {
  const name = flag.replace(/^-+/, '').replace(/=.*$/s, '');
  return own(foreignFlags[command], name) ?? own(everywhere, name);
}

/** A hint for a command that another program has; undefined if it is not known. */
export function adviceOnCommand(path: string): string | undefined {
  return own(otherCommands, path);
}

function own(advice: Advice | undefined, name: string): string | undefined {
  return advice !== undefined && Object.hasOwn(advice, name) ? advice[name] : undefined;
}
