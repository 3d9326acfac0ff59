import type { IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { DataAnswer } from '../../engine/context/data-source.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import { readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json } from '../../json/value.ts';
import { serviceOf } from '../../policy/policy-scope.ts';
import { messageOf, statusText } from '../api/cluster-error.ts';
import { readAll } from '../api/transport.ts';

export interface ServiceCallLimits {
  /** Hosts outside the cluster that policies may call; wildcards are allowed. */
  readonly allowedHosts: readonly string[];
  /** Hosts that namespaced Policies may call besides the Services of their namespace; wildcards. */
  readonly namespacedHosts?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface ServiceQuery {
  readonly method: 'GET' | 'POST';
  /** `{url, headers, caBundle}`. */
  readonly service: Json;
  readonly body?: Json | undefined;
}

/** The answer to whether a Policy may call a host. */
export interface Reach {
  /** Why not. */
  readonly violation?: string | undefined;
  /** Where to connect instead of asking DNS, which may answer differently after the check. */
  readonly address?: string | undefined;
}

/** They belong to the connection. Go's client, and so Kyverno, ignores them too. */
const ownHeaders: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'trailer']);

/** Policies may call Services of the cluster and the allowed hosts. */
export function mayCall(host: string, allowedHosts: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return (
    serviceOf(name) !== undefined ||
    allowedHosts.some((pattern) => compileWildcard(pattern.toLowerCase()).matches(name))
  );
}

/** Calls a JSON service. Redirects are not followed. Only credentials of the policy are sent. */
export async function callService(
  query: ServiceQuery,
  limits: ServiceCallLimits,
  /** Whether a namespaced Policy may call a host. */
  reach?: (host: string) => Promise<Reach>,
): Promise<DataAnswer> {
  const service = isObject(query.service) ? query.service : {};
  const address = readText(service, 'url') ?? '';
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return refused('the URL of the service is invalid');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return refused('the URL of the service must be http or https');
  if (url.username !== '' || url.password !== '')
    return refused('the URL of the service must not contain credentials');
  const host = url.hostname.replace(/\.$/, '');
  const reached = await reach?.(host);
  if (reached?.violation !== undefined) return { found: false, error: reached.violation, denied: true };
  if (reach === undefined && !mayCall(host, limits.allowedHosts))
    return refused(
      `the host ${url.hostname} is outside the cluster and not among the allowed hosts`,
      'the host of the service is outside the cluster and not among the allowed hosts',
    );
  const headers = Object.fromEntries(
    readObjects(service, 'headers')
      .map((header) => [readText(header, 'key') ?? '', readText(header, 'value') ?? ''] as const)
      .filter(([name]) => !ownHeaders.has(name.trim().toLowerCase())),
  );
  const connection = { ca: readText(service, 'caBundle'), address: reached?.address };
  try {
    return await exchange(url, query, headers, connection, limits);
  } catch (error) {
    return refused(`${query.method} ${url.origin}: ${messageOf(error)}`, 'the call of the service failed');
  }
}

async function exchange(
  url: URL,
  query: ServiceQuery,
  headers: Readonly<Record<string, string>>,
  { ca, address }: { readonly ca: string | undefined; readonly address: string | undefined },
  { timeoutMs, maxBytes }: ServiceCallLimits,
): Promise<DataAnswer> {
  const startedAt = performance.now();
  const body = query.method === 'POST' ? stringifyJson(query.body ?? {}) : undefined;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const content =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: query.method,
      headers: { accept: 'application/json', 'user-agent': 'kymera', ...content, ...headers },
      agent: false,
      ...(ca === undefined || ca === '' ? {} : { ca }),
      ...(address === undefined ? {} : { lookup: fixedLookup(address) }),
    });
    const timer = setTimeout(() => call.destroy(new Error('no response before the deadline')), timeoutMs);
    call.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    call.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    call.end(body);
  });
  const leftMs = timeoutMs - (performance.now() - startedAt);
  const text = await readAll(response, { method: query.method, path: url.pathname, maxBytes }, leftMs);
  const status = response.statusCode ?? 0;
  // The body of an error response may contain anything, so the message has only the status.
  if (status < 200 || status > 299)
    return refused(
      `${query.method} ${url.origin} answered ${status}`,
      `the service answered ${statusText(status)}`,
    );
  try {
    return { found: true, value: parseJson(text) };
  } catch {
    return refused(`${query.method} ${url.origin} did not return JSON`, 'the service did not return JSON');
  }
}

function fixedLookup(address: string): LookupFunction {
  const found = { address, family: isIP(address) };
  return (_host, { all }, callback) =>
    all === true ? callback(null, [found]) : callback(null, found.address, found.family);
}

/** An error without a reason of its own contains no values. */
function refused(error: string, reason = error): DataAnswer {
  return { found: false, error, reason };
}
