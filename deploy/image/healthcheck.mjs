// Ends with 0 when the server of this container answers. KYMERA_HEALTH_URL names another place to ask.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

const url = process.env.KYMERA_HEALTH_URL ?? 'https://127.0.0.1:9443/healthz';
const get = url.startsWith('https:') ? getSecure : getPlain;
// It asks itself: whose certificate it shows does not matter.
const request = get(url, { rejectUnauthorized: false, timeout: 2_000 }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', (error) => {
  console.error(`${url}: ${error.message}`);
  process.exitCode = 1;
});
