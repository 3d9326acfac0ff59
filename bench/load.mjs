// A load generator for webhooks: keep-alive TLS, a fixed number of connections, one review in flight on each.
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';

const hardLimitSeconds = 1_800;

/**
 * Sends the body until `seconds` have passed or `count` answers have arrived, as fast as they are answered or `perSecond`
 * times a second. Refuses other hosts unless `mayLeave` is set.
 * Every answer must be 200. The first ones are read: they must allow the request and contain a patch. Without the patch, an
 * answer would be much shorter, which is what later ones are checked for.
 */
export async function drive(
  url,
  {
    body,
    ca,
    connections = 16,
    seconds = 5,
    count = Infinity,
    perSecond = Infinity,
    mayLeave = false,
    insecure = false,
  },
) {
  const target = new URL(url);
  if (!mayLeave && !isLoopback(target.hostname))
    throw new Error(`${target.hostname} is not a loopback address`);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
  const options = {
    agent,
    method: 'POST',
    hostname: target.hostname,
    port: target.port,
    path: `${target.pathname}${target.search}`,
    headers: { 'content-type': 'application/json', 'content-length': body.length },
    ...(ca === undefined ? {} : { ca }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
  const latencies = [];
  const endsAt = performance.now() + Math.min(seconds, hardLimitSeconds) * 1000;
  let started = 0;
  let leastLength = Infinity;
  const startedAt = performance.now();
  const one = async () => {
    while (started < count && performance.now() < endsAt) {
      if (performance.now() < startedAt + (started / perSecond) * 1000) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      started += 1;
      const isRead = started <= connections;
      const sentAt = performance.now();
      const { text, length } = await post(options, body, isRead);
      // A million latencies are enough.
      if (latencies.length < 1_000_000) latencies.push(performance.now() - sentAt);
      if (isRead) {
        check(text);
        leastLength = Math.min(leastLength, length / 2);
      } else if (length < leastLength) throw new Error(`an answer has ${length} bytes: it has no patch`);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const elapsed = (performance.now() - startedAt) / 1000;
  agent.destroy();
  latencies.sort((left, right) => left - right);
  const percentile = (share) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return {
    reviews: started,
    perSecond: started / elapsed,
    p50: percentile(0.5),
    p99: percentile(0.99),
    p999: percentile(0.999),
    longest: latencies.at(-1),
  };
}

function post(options, body, isRead) {
  return new Promise((resolve, reject) => {
    const sending = request(options, (response) => {
      const parts = [];
      if (isRead) response.on('data', (part) => parts.push(part));
      else response.resume();
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const length = Number(response.headers['content-length'] ?? Infinity);
        if (response.statusCode === 200) resolve({ text, length });
        else reject(new Error(`answered ${response.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

function check(text) {
  const { response } = JSON.parse(text);
  if (response?.allowed !== true || typeof response.patch !== 'string') {
    throw new Error(`the review was not answered with a patch: ${text.slice(0, 300)}`);
  }
}

function isLoopback(host) {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}
