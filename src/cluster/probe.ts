import { request } from 'node:https';
import { ClusterAccessError, messageOf } from './cluster-error.ts';

/** Asks the server whether it is alive, at the address and with the trust that the API server will use. */
export function probeServer(address: string, ca: string, timeoutMs = 5_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new ClusterAccessError(`the server cannot be reached at ${address}: ${reason}`));
    const call = request(new URL('/healthz', address), { ca, agent: false, method: 'GET' }, (response) => {
      clearTimeout(timer);
      response.resume();
      if (response.statusCode === 200) resolve();
      else fail(`it answered ${response.statusCode}`);
    });
    const timer = setTimeout(() => call.destroy(new Error('no answer in time')), timeoutMs);
    call.once('error', (error) => {
      clearTimeout(timer);
      fail(messageOf(error));
    });
    call.end();
  });
}
