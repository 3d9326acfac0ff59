import { gunzipSync, gzipSync } from 'node:zlib';
import type { Environment } from '../expression/scope.ts';
import { systemEnvironment } from '../system-environment.ts';

const mostBytes = 16 * 1024 * 1024;

/** The clock, the randomness and the compression of this process. */
export const commandEnvironment: Environment = {
  ...systemEnvironment,
  gzip: {
    compress: (data) => gzipSync(data),
    decompress: (data) => gunzipSync(data, { maxOutputLength: mostBytes }),
  },
};
