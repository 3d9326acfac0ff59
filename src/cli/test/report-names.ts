export const reportFormats = ['json', 'yaml', 'markdown', 'junit', 'tap'] as const;
export type ReportFormat = (typeof reportFormats)[number];
