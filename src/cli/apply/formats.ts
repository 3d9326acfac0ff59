export const applyFormats = ['diff', 'yaml', 'json', 'patch', 'table'] as const;
export type ApplyFormat = (typeof applyFormats)[number];
