/** The folder of the installed package: two levels above this file in `src/cli`, and above each bundle in `dist`. */
export const packageRoot = new URL('../../', import.meta.url);
