/**
 * All coded errors. Codes are public: they appear in messages, reports and docs.
 * The reference page prints `cause` and `cure`.
 */
export const errorTable = {
  KYM_YAML_SYNTAX: {
    cause: 'The file is not well-formed YAML or JSON.',
    cure: 'Fix the syntax error at the reported position.',
  },
  KYM_EXPRESSION_SYNTAX: {
    cause: 'A JMESPath expression does not parse.',
    cure: 'Fix the expression; keys with dashes need double quotes.',
  },
  KYM_EXPRESSION_FAILED: {
    cause: 'An expression could not be evaluated.',
    cure: "Guard values that may be absent with `|| ''` or a projection `[]`.",
  },
  KYM_RULE_NOT_RUN: {
    cause:
      'A policy contains validate or verifyImages rules, or is of a kind that checks, cleans up or verifies. Kymera only mutates and generates, so nobody enforces them.',
    cure: 'Keep Kyverno, or a ValidatingAdmissionPolicy for validate rules. Remove the rules if something else enforces them.',
  },
  KYM_RULE_STUCK: {
    cause:
      'A rule has blocked the server twice for objects of this namespace, so it is no longer evaluated for them.',
    cure: 'Change the rule: a changed rule is evaluated again. The log names the rule each time it blocks the server.',
  },
  KYM_CEL_INVALID: {
    cause: 'A CEL expression does not parse or type-check.',
    cure: 'Fix the expression at the reported position; `kymera cel check` shows its type.',
  },
  KYM_CEL_FAILED: {
    cause: 'A CEL expression could not be evaluated.',
    cure: 'Guard fields that may be absent with `has(object.field)` or `object.?field.orValue(default)`.',
  },
  KYM_APPLY_CONFIGURATION: {
    cause: 'An ApplyConfiguration does not fit the schema of the object.',
    cure: 'Correct the field at the reported path. Use JSONPatch for atomic lists, maps and structs. Give the CustomResourceDefinition of a custom kind.',
  },
  KYM_BINDING_MISSING: {
    cause: 'A MutatingAdmissionPolicy has no MutatingAdmissionPolicyBinding. In a cluster it has no effect.',
    cure: 'Add the binding to the policies.',
  },
  KYM_BUDGET_EXHAUSTED: {
    cause: 'A policy needs more steps, memory or time than it may use for one request.',
    cure: 'Simplify the expression, loop or pattern that the message names: nested loops over large lists, and strings that grow with each step, are the usual reason.',
  },
  KYM_RULE_CRASHED: {
    cause: 'A rule failed for an unexpected reason, for example because data is nested too deeply.',
    cure: 'Check the object and the rule for extreme nesting or size; otherwise report it as a bug of Kymera.',
  },
  KYM_VARIABLE_UNRESOLVED: {
    cause: 'A variable refers to a key that does not exist.',
    cure: "Give a default: `{{ path || 'default' }}`.",
  },
  KYM_REFERENCE_UNRESOLVED: {
    cause: 'A reference `$( )` points to a path of the rule that does not exist or is not a string.',
    cure: 'Correct the path; write a literal `$(NAME)` as `\\$(NAME)`.',
  },
  KYM_LABEL_SELECTOR: {
    cause: 'A label selector is malformed.',
    cure: 'Write matchLabels as a map of strings, matchExpressions as a list of key, operator and values.',
  },
  KYM_CONTEXT_FAILED: {
    cause: 'A context entry that a rule reads could not be loaded.',
    cure: 'Check that the named object, path or service exists, or give the entry a `default`.',
  },
  KYM_CALL_NOT_MADE: {
    cause:
      'A policy lists objects with an `apiCall`. Offline no call is made, and no object of this kind is given, so the list is empty.',
    cure: 'Give the objects or the answer as the hint says. With `--strict` the rule fails instead.',
  },
  KYM_NAMESPACE_BOUNDARY: {
    cause: 'A namespaced Policy reads or writes outside its own namespace.',
    cure: 'Use a ClusterPolicy, or stay in the namespace of the Policy with generated objects, sources, targets and context entries.',
  },
  KYM_LIST_FAILED: {
    cause: 'The `list` of a foreach could not be evaluated.',
    cure: 'Guard a field that may be absent: `request.object.spec.initContainers[]` then yields no elements.',
  },
  KYM_IDENTITY_CHANGED: {
    cause:
      'A rule changes the name, namespace, uid, kind or apiVersion of an object, which Kubernetes does not allow.',
    cure: 'Leave these fields out of the patch.',
  },
  KYM_INPUT_NOT_FOUND: {
    cause: 'A file, folder or glob on the command line does not exist.',
    cure: 'Check the path; quote a glob so that the shell leaves it alone.',
  },
  KYM_INPUT_UNREADABLE: {
    cause: 'A file cannot be read, or is not UTF-8 text.',
    cure: 'Check the permissions of the file and save it as UTF-8.',
  },
  KYM_INPUT_TOO_LARGE: {
    cause: 'A document is larger than anything Kubernetes accepts.',
    cure: 'Split the file, or leave this object out.',
  },
  KYM_INPUT_TOO_DEEP: {
    cause: 'A document nests deeper than 250 levels.',
    cure: 'Kubernetes objects do not nest this deeply: check how the file was created.',
  },
  KYM_YAML_ALIASES: {
    cause: 'YAML aliases make a document much larger than its text, or refer to themselves.',
    cure: 'Write the repeated values out.',
  },
  KYM_NOT_AN_OBJECT: {
    cause: 'A document is not a Kubernetes object: apiVersion, kind or both are missing.',
    cure: 'Give the document an apiVersion and a kind, or leave the file out.',
  },
  KYM_USAGE: {
    cause: 'The command line is not valid.',
    cure: 'Run the command with `--help`.',
  },
  KYM_VALUES_INVALID: {
    cause: 'A Values or UserInfo document is not well-formed.',
    cure: 'Fix the field that the message names; kind is `Values` or `UserInfo` of cli.kyverno.io/v1alpha1.',
  },
  KYM_TEST_INVALID: {
    cause: 'A test document is not well-formed.',
    cure: 'Fix the field that the message names; `kymera create test` writes a valid one.',
  },
  KYM_PATCH_INVALID: {
    cause: 'A strategic merge patch is not a map, or would delete or replace the whole object.',
    cure: 'Write the patch as a part of the object it changes.',
  },
  KYM_JSON_PATCH_INVALID: {
    cause: 'A JSON patch is not a list of operations, or one of its operations is incomplete.',
    cure: 'Write a list of maps, each with op, path and, where the operation needs it, value or from.',
  },
  KYM_JSON_PATCH_FAILED: {
    cause: 'An operation of a JSON patch cannot be applied to this object.',
    cure: 'Check the reported path; replace and test need an existing value, add creates missing parents.',
  },
  KYM_PATCH_MISMATCH: {
    cause: 'A patch has a map, a list or a scalar where the object has a value of another type.',
    cure: 'Compare the patch with the object at the reported path; a JSON patch can replace a value with one of another type.',
  },
  KYM_PATCH_KEY_MISSING: {
    cause: 'An item of a patch cannot be matched with the items of a list that is merged by keys.',
    cure: 'Set the merge key in the item, or an anchor such as `(name): "*"`.',
  },
  KYM_PATCH_DIRECTIVE: {
    cause: 'A `$patch` or other strategic merge directive is not valid in this position.',
    cure: 'Use merge, replace or delete; in lists without a merge key use a JSON patch.',
  },
  KYM_PATCH_TOO_DEEP: {
    cause: 'A patch, or a value that it merges, is nested too deeply.',
    cure: 'Check how the patch or the value was created.',
  },
  KYM_ANCHOR_SYNTAX: {
    cause: 'A key of a patch looks like an anchor, but its parentheses are incomplete or in the wrong place.',
    cure: 'Write `(key)`, `<(key)` or `+(key)`.',
  },
  KYM_BRACES_UNCLOSED: {
    cause: 'A string contains `{{` without `}}`, so it is not a variable and is used as it is.',
    cure: 'Close the braces: `{{ name }}`. Write literal braces as `\\{{`.',
  },
  KYM_LITERAL_WILDCARD: {
    cause:
      'An item of a patch has a name with a wildcard. Without an anchor it is a literal name, so the item is added.',
    cure: 'Write an anchor, such as `(name): "*"`, to change the existing items that match.',
  },
  KYM_ANCHOR_UNSUPPORTED: {
    cause: 'A mutation uses an anchor that only validate rules support: `=()`, `X()` or `^()`.',
    cure: 'Use `()`, `<()` or `+()`, or use preconditions.',
  },
  KYM_REPLACEMENT_INVALID: {
    cause: 'A replacement is not valid.',
    cure: 'A replacement has a source or a sourceValue, and targets with select and fieldPaths.',
  },
  KYM_REPLACEMENT_FAILED: {
    cause: 'A replacement found no source or no target field.',
    cure: 'Check the reported selector and path; `options.create: true` adds missing fields.',
  },
  KYM_FIELD_UNKNOWN: {
    cause: 'A document has a field that its schema does not have.',
    cure: 'Correct the name or remove the field.',
  },
  KYM_FIELD_TYPE: {
    cause: 'A field holds a value of the wrong type.',
    cure: 'Use a value of the type that the message names.',
  },
  KYM_FIELD_VALUE: {
    cause: 'A field holds a value that is not allowed.',
    cure: 'Use one of the values that the message names.',
  },
  KYM_FIELD_MISSING: {
    cause: 'A required field is missing.',
    cure: 'Add the field that the message names.',
  },
  KYM_FIELD_CONFLICT: { cause: 'Two fields are mutually exclusive.', cure: 'Keep one of them.' },
  KYM_POLICY_SCOPE: {
    cause:
      'A ClusterPolicy has a namespace, or admission and background are disabled where they are required.',
    cure: 'Use a Policy for one namespace; leave admission on for mutate rules.',
  },
  KYM_RULE_NAME: {
    cause: 'Two rules of a policy have the same name.',
    cure: 'Give each rule a unique name.',
  },
  KYM_RULE_TYPE: {
    cause: 'A rule has none or several of `mutate`, `validate`, `generate` and `verifyImages`.',
    cure: 'Write a separate rule for each.',
  },
  KYM_MATCH_EMPTY: {
    cause: 'A match block selects nothing or everything.',
    cure: 'Add at least `kinds`.',
  },
  KYM_MATCH_KIND: {
    cause: 'A match block names no kind, or a kind that cannot be used there.',
    cure: 'List the kinds; `*` must be the only kind, and allows patches of metadata only.',
  },
  KYM_NAMESPACE_SCOPE: {
    cause: 'A namespaced Policy reaches outside its namespace.',
    cure: 'Stay within the namespace, or use a ClusterPolicy.',
  },
  KYM_BACKGROUND_USER_INFO: {
    cause: 'A policy that also runs in the background uses data of the request.',
    cure: 'Set `spec.background` to `false`.',
  },
  KYM_VARIABLE_FORBIDDEN: {
    cause: 'A variable is used where variables are not allowed.',
    cure: 'Use `preconditions` for what depends on the request, or a `foreach`.',
  },
  KYM_VARIABLE_UNKNOWN: {
    cause: 'A variable is used but not defined.',
    cure: 'Correct the name, or define it as a context entry before its use.',
  },
  KYM_VARIABLE_OUTSIDE_FOREACH: {
    cause: '`element` or `elementIndex` is used outside a loop.',
    cure: 'Put the patch in a `foreach`.',
  },
  KYM_CONTEXT_ENTRY: {
    cause: 'A context entry is incomplete or contradictory.',
    cure: 'Give it a name and exactly one source: variable, configMap, apiCall, imageRegistry or globalReference.',
  },
  KYM_CONTEXT_CYCLE: {
    cause: 'A context entry refers to itself or to a later one.',
    cure: 'List each entry before the entries that use it.',
  },
  KYM_CONDITION_INVALID: {
    cause: 'A condition is incomplete or can never hold.',
    cure: 'Set `key`, a supported `operator` and `value`.',
  },
  KYM_MUTATE_FORM: {
    cause: 'A mutate block or foreach entry has none or several of its patch forms.',
    cure: 'Keep exactly one of `patchStrategicMerge`, `patchesJson6902`, `foreach` and `replacements`.',
  },
  KYM_METADATA_ONLY: {
    cause: 'A patch for every kind changes more than metadata, the only part that every kind has.',
    cure: 'Name the kinds, or change metadata only.',
  },
  KYM_LABEL_VALUE: {
    cause: 'A label or annotation in a patch is not a string.',
    cure: 'Put quotes around it; to remove it use `patchesJson6902` with `op: remove`.',
  },
  KYM_IDENTITY_WRITE: {
    cause: 'A patch changes name, namespace, uid, kind or apiVersion, which Kubernetes does not allow.',
    cure: 'Leave the field out of the patch.',
  },
  KYM_TARGET_KINDS: {
    cause: 'One rule patches targets of different kinds outside their metadata.',
    cure: 'Write one rule for each kind.',
  },
  KYM_TARGETS_MISSING: {
    cause: '`mutateExistingOnPolicyUpdate` is set on a rule without targets.',
    cure: 'Add `mutate.targets`.',
  },
  KYM_NOT_RECONCILED: {
    cause:
      'The patch of a rule for existing objects differs on each evaluation, so repeating it would change its targets forever.',
    cure: 'Nothing to do: it runs when a trigger is admitted and when the policy changes. For periodic runs, remove `random` and time functions from the patch.',
  },
  KYM_TARGET_NOT_FOUND: {
    cause: 'A rule names one target by namespace and name, and that object does not exist.',
    cure: 'Create the object, or correct the target; with a wildcard in its name, a missing object is not a failure.',
  },
  KYM_TARGET_SELECTOR: {
    cause: 'The selector of a target cannot be used: it has no kind, or a value of the wrong type.',
    cure: 'Give the target a kind, and strings for its fields.',
  },
  KYM_GENERATE_FORM: {
    cause:
      'A generate block, or an entry of its foreach, has none or several of its forms, or contains anchors.',
    cure: 'Keep exactly one of `data`, `clone`, `cloneList` and `foreach`, without anchors.',
  },
  KYM_GENERATE_SYNCHRONIZE: {
    cause: 'The kind or source of objects that a synchronized rule generates depends on the trigger.',
    cure: 'Write a rule for each kind and source, or remove `synchronize`.',
  },
  KYM_SOURCE_NOT_FOUND: {
    cause: 'A generate rule copies an object that does not exist.',
    cure: 'Create the object that `clone` names, or correct its namespace and name.',
  },
  KYM_EXISTING_ENDLESS: {
    cause:
      'A rule for existing objects triggers itself without end, or two rules keep undoing the changes of the other.',
    cure: 'Leave `skipBackgroundRequests` at true, or add preconditions that detect objects that need no further change.',
  },
  KYM_SUBRESOURCE_MISSING: {
    cause:
      'A rule changes replicas or status, which can also change through a subresource that it does not match.',
    cure: 'Add the kind with `/scale` or `/status`, if the rule should cover it.',
  },
  KYM_AUTOGEN_NARROWED: {
    cause: 'A rule for Pods also acts on Pods of controllers that the autogen annotation leaves out.',
    cure: 'Exclude those Pods with preconditions.',
  },
  KYM_POD_PATCHED_DIRECTLY: {
    cause: 'A JSON patch on Pods does not reach their controllers.',
    cure: 'Write a rule for the controllers, or use `patchStrategicMerge`, which autogen supports.',
  },
  KYM_DEPRECATED: {
    cause: 'A policy uses a version, field, form or operator that has a newer equivalent.',
    cure: '`kymera convert` rewrites it; the old form keeps working.',
  },
  KYM_NEVER_APPLIES: {
    cause: 'A rule, or one block of its match, cannot apply to any object.',
    cure: 'Change the reported part; the message explains the contradiction.',
  },
  KYM_NOT_CONVERTED: {
    cause:
      'A policy cannot be expressed in another form with the same results: `kymera convert` to kyverno.io/v1, or the generation of a MutatingAdmissionPolicy.',
    cure: 'Change the reported part by hand, as the message says; until then the old form keeps working.',
  },
  KYM_FILE_NOT_WRITTEN: {
    cause: 'A file cannot be written.',
    cure: 'Check the permissions of the folder and the free disk space.',
  },
  KYM_FILE_EXISTS: {
    cause: 'An output file already exists.',
    cure: 'Choose another path, or overwrite it with `--force`.',
  },
  KYM_CERTIFICATE: {
    cause: 'A certificate and its key cannot be used for TLS.',
    cure: 'Provide both as PEM: the certificate with its chain, and the matching key.',
  },
  KYM_LISTEN: {
    cause: 'The server cannot listen on the address and port.',
    cure: 'Choose another port with --port, 0 for any, or an address of this machine with --host.',
  },
  KYM_CLUSTER: {
    cause: 'A cluster cannot be reached, or rejects a request.',
    cure: 'Check the kubeconfig and context, and that `kubectl get namespaces` works with them.',
  },
  KYM_KUSTOMIZATION_INVALID: {
    cause:
      'A kustomization, or a file with settings of one, is not valid: it has an unknown field or a value of the wrong type.',
    cure: 'Fix the field that the message names.',
  },
  KYM_KUSTOMIZE_NOT_FOUND: {
    cause: 'A file or folder that a kustomization names does not exist, or a folder holds no kustomization.',
    cure: 'Check the path; it is relative to the folder of the kustomization.',
  },
  KYM_KUSTOMIZE_OUTSIDE: {
    cause: 'A kustomization reads a file outside its own folder.',
    cure: 'Move the file below the folder, or make it a kustomization of its own; `--load-restrictor LoadRestrictionsNone` lifts the restriction.',
  },
  KYM_KUSTOMIZE_REMOTE: {
    cause:
      'A kustomization names a URL that is no folder of a git repository, or the repository cannot be fetched.',
    cure: 'Check the address, the `ref` and your credentials with `git fetch`; download single files.',
  },
  KYM_KUSTOMIZE_CYCLE: {
    cause: 'Kustomizations refer to each other in a cycle.',
    cure: 'Remove one of the references.',
  },
  KYM_KUSTOMIZE_RESOURCE: {
    cause:
      'A resource of a build is not a Kubernetes object: kind or metadata.name is missing, or the file is not YAML.',
    cure: 'Fix the file that the message names.',
  },
  KYM_KUSTOMIZE_DUPLICATE: {
    cause: 'Two resources of a build have the same id: group, version, kind, namespace and name.',
    cure: 'Name them differently, list the file once, or give a generator `behavior: merge` or `replace`.',
  },
  KYM_KUSTOMIZE_GENERATOR: {
    cause: 'A ConfigMap or Secret cannot be generated.',
    cure: 'Literals are written `key=value`, files `key=path`; `behavior: merge` and `replace` need an existing resource.',
  },
  KYM_KUSTOMIZE_NO_TARGET: {
    cause: 'A setting of a kustomization refers to a resource that is not in the build, or to more than one.',
    cure: 'Check kind, name and namespace against the resources.',
  },
  KYM_KUSTOMIZE_PATCH: {
    cause: 'A patch of a kustomization cannot be read, or cannot be applied to its target.',
    cure: 'A list of operations is a JSON patch, a map with kind and metadata.name a strategic merge patch; check the paths against the resource.',
  },
  KYM_PLUGIN_DISABLED: {
    cause:
      'A kustomization uses a plugin or a function, which runs a program, and running programs is not enabled.',
    cure: 'Review the program, then allow it with `--enable-plugins`.',
  },
  KYM_PLUGIN_NOT_FOUND: {
    cause:
      'There is no plugin for a config under generators, transformers or validators, or it is not executable.',
    cure: 'Install it at one of the paths that the message names, and make it executable.',
  },
  KYM_PLUGIN_FAILED: {
    cause: 'A plugin ended with an error, could not be started, or exceeded its timeout.',
    cure: 'The message contains its output; `--plugin-timeout` gives it more time.',
  },
  KYM_PLUGIN_OUTPUT: {
    cause: 'A plugin printed something that is not a list of resources, or too much output.',
    cure: 'A plugin prints YAML documents or a ResourceList, and messages on standard error.',
  },
  KYM_PLUGIN_CHANGED: {
    cause:
      'A validator changed resources, or a transformer with one program per group added, removed, renamed or moved some.',
    cure: 'List the config under transformers, or use a function or one program per kind, which may do so.',
  },
  KYM_CONFLICT: {
    cause: 'Two rules write different values to the same field, so the result depends on their order.',
    cure: 'Keep one of the two, or make their match blocks exclusive.',
  },
  KYM_ENDLESS: {
    cause: 'Rules trigger each other: the change of one makes another change the object again.',
    cure: 'Make one of them skip objects that another has changed.',
  },
  KYM_ALWAYS_FAILS: {
    cause:
      'A rule fails on every object of a kind that it matches, because a variable reads a field that such objects do not have. Unless the failure policy is Ignore, these objects are denied.',
    cure: "Match only the kinds that have the field, give a default as in `{{ path || '' }}`, or disable autogen with the annotation `pod-policies.kyverno.io/autogen-controllers: none`.",
  },
  KYM_NOT_IDEMPOTENT: {
    cause: 'A policy changes an object again when it runs a second time, so every update changes it.',
    cure: 'Add a precondition or an anchor that detects the earlier change.',
  },
  KYM_DIFFERS_FROM_KYVERNO: {
    cause: 'Kyverno handles a part of the policy differently, or does not support it.',
    cure: 'No change is needed if the policy runs only in Kymera; otherwise use the form that the hint names. The hint also names the topic of the difference: `kymera errors TOPIC`.',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;
