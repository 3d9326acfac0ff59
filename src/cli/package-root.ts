/** The folder of the installed package, two levels above this file: both in `src/cli` and in the bundles of `dist`. */
export const packageRoot = new URL('../../', import.meta.url);
