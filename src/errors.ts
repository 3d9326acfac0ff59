/**
 * The one table of coded errors. Codes are public: they appear in messages, reports and docs.
 * `cause` and `cure` are what the docs page prints.
 */
export const errorTable = {
  KYM_YAML_SYNTAX: { cause: 'The file is not well-formed YAML or JSON.', cure: 'Mend the text at the position shown.' },
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
} as const;

export type ErrorCode = keyof typeof errorTable;
