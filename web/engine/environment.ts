import { gunzipSync, gzipSync } from 'fflate';
import type { Environment } from '../../src/expression/scope.ts';
import { systemEnvironment } from '../../src/system-environment.ts';

/** The clock, the randomness and the compression of the page. */
export const pageEnvironment: Environment = {
  ...systemEnvironment,
  gzip: { compress: (data) => gzipSync(data), decompress: (data) => gunzipSync(data) },
};
