/**
 * The one table of coded errors. Codes are public: they appear in messages, reports and docs.
 * `cause` and `cure` are what the docs page prints.
 */
export const errorTable = {
  KYM_YAML_SYNTAX: {
    cause: 'The file is not well-formed YAML or JSON.',
    cure: 'Mend the text at the position shown.',
  },
  KYM_EXPRESSION_SYNTAX: {
    cause: 'A JMESPath expression does not parse.',
    cure: 'Mend the expression; keys with dashes need double quotes.',
  },
  KYM_EXPRESSION_FAILED: {
    cause: 'An expression could not be evaluated.',
    cure: "Guard values that may be absent with `|| ''` or a projection `[]`.",
  },
  KYM_VARIABLE_UNRESOLVED: {
    cause: 'A variable names a key that is not there.',
    cure: "Give a default: `{{ path || 'default' }}`.",
  },
  KYM_REFERENCE_UNRESOLVED: {
    cause: 'A reference `$( )` names a place of the rule that is not there, or does not hold text.',
    cure: 'Correct the path; a dollar sign with parentheses that is meant as text is written `\\$(NAME)`.',
  },
  KYM_LABEL_SELECTOR: {
    cause: 'A label selector is malformed.',
    cure: 'Write matchLabels as a map of strings, matchExpressions as a list of key, operator and values.',
  },
  KYM_CONTEXT_FAILED: {
    cause: 'A context entry that a rule reads could not be loaded.',
    cure: 'Check that the named object, path or service exists, or give the entry a `default`.',
  },
  KYM_NAMESPACE_BOUNDARY: {
    cause: 'A namespaced Policy reaches for data outside its own namespace.',
    cure: 'Use a ClusterPolicy, or keep sources, context entries and targets in the namespace of the Policy.',
  },
  KYM_LIST_FAILED: {
    cause: 'The `list` of a foreach could not be evaluated.',
    cure: 'Guard a field that may be absent: `request.object.spec.initContainers[]` yields no elements then.',
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
    cure: 'Check the rights of the file and save it as UTF-8.',
  },
  KYM_INPUT_TOO_LARGE: {
    cause: 'A document is larger than anything Kubernetes accepts.',
    cure: 'Split the file, or leave this object out.',
  },
  KYM_INPUT_TOO_DEEP: {
    cause: 'A document nests deeper than 250 levels.',
    cure: 'Kubernetes objects do not nest so deeply: check how the file was made.',
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
    cause: 'The command line cannot be understood.',
    cure: 'Run the command with `--help`.',
  },
  KYM_VALUES_INVALID: {
    cause: 'A Values or UserInfo document is not well-formed.',
    cure: 'Mend the field that the message names; kind is `Values` or `UserInfo` of cli.kyverno.io/v1alpha1.',
  },
  KYM_TEST_INVALID: {
    cause: 'A test document is not well-formed.',
    cure: 'Mend the field that the message names; `kymera create test` writes one to compare with.',
  },
  KYM_PATCH_INVALID: {
    cause: 'A strategic merge patch is not a map, or would delete or replace the whole object.',
    cure: 'Write the patch as a part of the object it changes.',
  },
  KYM_JSON_PATCH_INVALID: {
    cause: 'A JSON patch is not a list of operations, or an operation of it is incomplete.',
    cure: 'Write a list of maps, each with op, path and, where the operation needs it, value or from.',
  },
  KYM_JSON_PATCH_FAILED: {
    cause: 'An operation of a JSON patch cannot be applied to this object.',
    cure: 'Check the path shown; replace and test need a value that is there, add creates what is missing.',
  },
  KYM_PATCH_MISMATCH: {
    cause: 'A patch has a map, a list or a scalar where the object has something of another shape.',
    cure: 'Compare the patch with the object at the path shown; a JSON patch can replace a value by one of another shape.',
  },
  KYM_PATCH_KEY_MISSING: {
    cause: 'An item of a patch cannot be matched with the items of a list that is merged by keys.',
    cure: 'State the merge key in the item, or an anchor such as `(name): "*"`.',
  },
  KYM_PATCH_DIRECTIVE: {
    cause: 'A `$patch` directive, or another one of strategic merge, is not understood where it stands.',
    cure: 'Use merge, replace or delete; in lists without a merge key use a JSON patch.',
  },
  KYM_PATCH_TOO_DEEP: {
    cause: 'A patch, or a value merged by it, is nested beyond any real object.',
    cure: 'Check how the patch or the value was made.',
  },
  KYM_ANCHOR_UNSUPPORTED: {
    cause: 'A mutation holds an anchor that only validate rules know: `=()`, `X()` or `^()`.',
    cure: 'Use `()`, `<()` or `+()`, or say it with preconditions.',
  },
  KYM_ANCHOR_MISPLACED: {
    cause: 'A `+()` anchor stands inside the value of a condition, of which nothing is written.',
    cure: 'Write it below a plain key beside the condition.',
  },
  KYM_REPLACEMENT_INVALID: {
    cause: 'A replacement is not well-formed.',
    cure: 'A replacement has a source or a sourceValue, and targets with select and fieldPaths.',
  },
  KYM_REPLACEMENT_FAILED: {
    cause: 'A replacement found no source, or no field to write to.',
    cure: 'Check the selector and path shown; `options.create: true` adds missing fields.',
  },
  KYM_FIELD_UNKNOWN: {
    cause: 'A document has a field that its schema does not have.',
    cure: 'Correct the name or remove the field; nothing would read it.',
  },
  KYM_FIELD_TYPE: {
    cause: 'A field holds a value of the wrong type.',
    cure: 'Give a value of the type named.',
  },
  KYM_FIELD_VALUE: {
    cause: 'A field holds a value that is not allowed.',
    cure: 'Use one of the values named.',
  },
  KYM_FIELD_MISSING: {
    cause: 'A required field is not there.',
    cure: 'Add the field that the message names.',
  },
  KYM_FIELD_CONFLICT: { cause: 'Two fields exclude each other.', cure: 'Keep one of them.' },
  KYM_POLICY_SCOPE: {
    cause:
      'A ClusterPolicy has a namespace, or admission and background are switched off where they are needed.',
    cure: 'Use a Policy for one namespace; leave admission on for mutate rules.',
  },
  KYM_RULE_NAME: { cause: 'Two rules of a policy have one name.', cure: 'Give each rule a name of its own.' },
  KYM_RULE_TYPE: {
    cause: 'A rule has none or several of `mutate`, `validate`, `generate` and `verifyImages`.',
    cure: 'Write one rule for each.',
  },
  KYM_MATCH_EMPTY: {
    cause: 'A match block selects nothing or everything.',
    cure: 'Say what it is about: `kinds` at least.',
  },
  KYM_MATCH_KIND: {
    cause: 'A match block names no kind, or a kind that cannot be used there.',
    cure: 'Name the kinds; `*` stands alone, and only for patches of metadata.',
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
    cause: 'A variable stands where none can be used.',
    cure: 'Use `preconditions` for what depends on the request, or a `foreach`.',
  },
  KYM_VARIABLE_UNKNOWN: {
    cause: 'Nothing defines a variable that is used.',
    cure: 'Correct the name, or define it as a context entry before its use.',
  },
  KYM_VARIABLE_OUTSIDE_FOREACH: {
    cause: '`element` or `elementIndex` is used outside a loop.',
    cure: 'Put the patch in a `foreach`.',
  },
  KYM_CONTEXT_ENTRY: {
    cause: 'A context entry is incomplete or contradicts itself.',
    cure: 'Give it a name and exactly one source: variable, configMap, apiCall, imageRegistry or globalReference.',
  },
  KYM_CONTEXT_CYCLE: {
    cause: 'A context entry refers to itself or to a later one.',
    cure: 'Put entries in the order of their use.',
  },
  KYM_CONDITION_INVALID: {
    cause: 'A condition is incomplete or can never hold.',
    cure: 'Give `key`, an `operator` that is known, and `value`.',
  },
  KYM_MUTATE_FORM: {
    cause: 'A mutate block or foreach entry has none or several of its patch forms.',
    cure: 'Keep exactly one of `patchStrategicMerge`, `patchesJson6902`, `foreach` and `replacements`.',
  },
  KYM_METADATA_ONLY: {
    cause: 'A patch for every kind changes more than metadata, which is all that every kind has.',
    cure: 'Name the kinds, or change metadata only.',
  },
  KYM_LABEL_VALUE: {
    cause: 'A label or annotation in a patch is not text.',
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
      'The patch of a rule for existing objects differs each time it is made, so repeating it would change its targets for ever.',
    cure: 'Nothing to do: it runs when a trigger is admitted and when the policy changes. For a regular run, take `random` and the time out of the patch.',
  },
  KYM_TARGET_NOT_FOUND: {
    cause: 'A rule names one target by namespace and name, and there is no such object.',
    cure: 'Create the object, or correct the target; with a wildcard in its name an absent object is no failure.',
  },
  KYM_TARGET_SELECTOR: {
    cause: 'The selector of a target cannot be used: it has no kind, or a value of the wrong type.',
    cure: 'Give the target a kind, and texts for its fields.',
  },
  KYM_GENERATE_FORM: {
    cause: 'A generate block, or an entry of its foreach, has none or several of its forms, or anchors.',
    cure: 'Keep exactly one of `data`, `clone`, `cloneList` and `foreach`, without anchors.',
  },
  KYM_GENERATE_SYNCHRONIZE: {
    cause: 'Kind or source of what a synchronized rule generates depends on the trigger.',
    cure: 'Write a rule for each kind and source, or do without `synchronize`.',
  },
  KYM_SOURCE_NOT_FOUND: {
    cause: 'A generate rule copies an object that is not there.',
    cure: 'Create the object that `clone` names, or correct its namespace and name.',
  },
  KYM_EXISTING_ENDLESS: {
    cause:
      'What a rule for existing objects writes makes it run again, without end; or two rules undo what the other does.',
    cure: 'Leave `skipBackgroundRequests` at true, or let preconditions tell what needs no change any more.',
  },
  KYM_SUBRESOURCE_MISSING: {
    cause:
      'A rule deals with replicas or status, which also change through a subresource that it does not match.',
    cure: 'Add the kind with `/scale` or `/status`, if the rule is meant for that too.',
  },
  KYM_AUTOGEN_NARROWED: {
    cause: 'A rule for Pods also acts on Pods of controllers that the autogen annotation leaves out.',
    cure: 'Exclude those Pods by preconditions.',
  },
  KYM_POD_PATCHED_DIRECTLY: {
    cause: 'A JSON patch on Pods does not reach their controllers.',
    cure: 'Write a rule for the controllers, or use `patchStrategicMerge`, which autogen carries over.',
  },
  KYM_DEPRECATED: {
    cause: 'A policy uses a version, field, form or operator that has a newer equivalent.',
    cure: '`kymera convert` rewrites it; the old form goes on working here.',
  },
  KYM_NEVER_APPLIES: {
    cause: 'A rule, or one block of its match, cannot apply to any object.',
    cure: 'Change the part shown; the message says what contradicts what.',
  },
  KYM_NOT_CONVERTED: {
    cause: '`kymera convert` knows no form of a policy in kyverno.io/v1 that gives the same results.',
    cure: 'Change the part shown by hand, as the message says; until then the old form goes on working here.',
  },
  KYM_FILE_NOT_WRITTEN: {
    cause: 'A file cannot be written.',
    cure: 'Check the rights of the folder and the space on the disk.',
  },
  KYM_FILE_EXISTS: {
    cause: 'A file that would be written is there already.',
    cure: 'Name another place, or overwrite it with `--force`.',
  },
  KYM_CERTIFICATE: {
    cause: 'A certificate and its key cannot be used for TLS.',
    cure: 'Give both as PEM, the certificate with its chain, and the key that belongs to it.',
  },
  KYM_LISTEN: {
    cause: 'The server cannot listen on the address and port.',
    cure: 'Choose another port with --port, 0 for any, or an address of this machine with --host.',
  },
  KYM_CLUSTER: {
    cause: 'A cluster cannot be reached, or refuses what is asked of it.',
    cure: 'Check the kubeconfig and context, and that `kubectl get namespaces` works with them.',
  },
  KYM_KUSTOMIZATION_INVALID: {
    cause:
      'A kustomization, or a file with settings of one, is not well-formed: an unknown field, or a value of another type.',
    cure: 'Mend the field that the message names.',
  },
  KYM_KUSTOMIZE_NOT_FOUND: {
    cause: 'A file or folder that a kustomization names does not exist, or a folder holds no kustomization.',
    cure: 'Check the path; it is relative to the folder of the kustomization.',
  },
  KYM_KUSTOMIZE_OUTSIDE: {
    cause: 'A kustomization reads a file outside its own folder.',
    cure: 'Move the file below the folder, or make it a kustomization of its own; `--load-restrictor LoadRestrictionsNone` lifts the rule.',
  },
  KYM_KUSTOMIZE_REMOTE: {
    cause: 'A kustomization names a URL or a repository. Builds read local files only.',
    cure: 'Fetch it to a local folder first and name that.',
  },
  KYM_KUSTOMIZE_CYCLE: {
    cause: 'Kustomizations refer to one another in a circle.',
    cure: 'Take one of the references out.',
  },
  KYM_KUSTOMIZE_RESOURCE: {
    cause:
      'A resource of a build is not a Kubernetes object: kind or metadata.name is missing, or the text is not YAML.',
    cure: 'Mend the file that the message names.',
  },
  KYM_KUSTOMIZE_DUPLICATE: {
    cause: 'Two resources of a build have one id: group, version, kind, namespace and name.',
    cure: 'Name them differently, list the file once, or give a generator `behavior: merge` or `replace`.',
  },
  KYM_KUSTOMIZE_GENERATOR: {
    cause: 'A ConfigMap or Secret cannot be generated.',
    cure: 'Literals are written `key=value`, files `key=path`; `behavior: merge` and `replace` need a resource that is there.',
  },
  KYM_KUSTOMIZE_NO_TARGET: {
    cause: 'A setting of a kustomization names a resource that is not in the build, or fits more than one.',
    cure: 'Check kind, name and namespace against the resources.',
  },
  KYM_KUSTOMIZE_PATCH: {
    cause: 'A patch of a kustomization cannot be read, or cannot be applied to a resource it is meant for.',
    cure: 'A list of operations is a JSON patch, a map with kind and metadata.name a strategic merge patch; check the paths against the resource.',
  },
  KYM_PLUGIN_DISABLED: {
    cause:
      'A kustomization asks for a plugin or a function, which is a program, and running programs was not allowed.',
    cure: 'Read what it would run; then allow it with `--enable-plugins`.',
  },
  KYM_PLUGIN_NOT_FOUND: {
    cause:
      'No plugin belongs to a config under generators, transformers or validators, or it is not executable.',
    cure: 'Install it at one of the paths that the message names, with the right to execute.',
  },
  KYM_PLUGIN_FAILED: {
    cause: 'A plugin ended with an error, could not be started, or ran longer than it may.',
    cure: 'The message holds what it printed; `--plugin-timeout` gives it more time.',
  },
  KYM_PLUGIN_OUTPUT: {
    cause: 'A plugin printed something that is not a list of resources, or more than it may.',
    cure: 'A plugin prints YAML documents or a ResourceList, and messages on standard error.',
  },
  KYM_PLUGIN_CHANGED: {
    cause:
      'A validator changed resources, or a transformer of the layout with one program per group added, removed, renamed or moved some.',
    cure: 'List the config under transformers, or use a function or the layout with one program per kind, which may do so.',
  },
  KYM_CONFLICT: {
    cause: 'Two rules write one place with different values: which of them runs last decides.',
    cure: 'Keep one of the two, or let their match blocks exclude each other.',
  },
  KYM_ENDLESS: {
    cause: 'Rules set each other off: each changes what makes another change the object again.',
    cure: 'Let one of them leave alone what another wrote.',
  },
  KYM_NOT_IDEMPOTENT: {
    cause: 'A policy that runs twice changes the object twice, so every update changes it again.',
    cure: 'Let a precondition or an anchor see that the change was made.',
  },
  KYM_DIFFERS_FROM_KYVERNO: {
    cause: 'Kyverno treats a part of the policy in another way, or does not know it.',
    cure: 'Nothing, when the policy runs here only; else use the form that the hint names. See differences-from-kyverno.md.',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;
