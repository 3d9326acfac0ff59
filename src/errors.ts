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
    cure: 'Guard a field that may be absent: `request.object.spec.initContainers[]` or `… || `[]``.',
  },
  KYM_IDENTITY_CHANGED: {
    cause:
      'A rule changes the name, namespace, uid, kind or apiVersion of an object, which Kubernetes does not allow.',
    cure: 'Leave these fields out of the patch.',
  },
  KYM_DATA_NOT_READY: {
    cause: 'A policy reads data that has to be fetched, where only data at hand can be used.',
    cure: 'Use the asynchronous call, or give the data beforehand.',
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
    cure: 'Run the command with --help.',
  },
  KYM_VALUES_INVALID: {
    cause: 'A Values or UserInfo document is not well-formed.',
    cure: 'Compare it with the example in the documentation of the command line.',
  },
  KYM_TEST_INVALID: {
    cause: 'A test document is not well-formed.',
    cure: 'Compare it with the example in the documentation of `kymera test`.',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;
