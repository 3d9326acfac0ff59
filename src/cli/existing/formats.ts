export const existingFormats = ['diff', 'yaml', 'json', 'table'] as const;
export type ExistingFormat = (typeof existingFormats)[number];
