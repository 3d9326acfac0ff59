import { mkdtempSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { PolicyProvider } from '../../src/admission/policy-provider.ts';
import { createPolicySets } from '../../src/admission/policy-sets.ts';

import { createServeLog } from '../../src/cli/serve/log.ts';

import type { DataSource } from '../../src/engine/context/data-source.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';
import { loadCelCompilers } from '../../src/policy/cel-documents.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import { keepSelfSigned } from '../../src/server/certificate-folder.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server/server.ts';

export interface TestServer {
  readonly server: RunningServer;
  readonly ca: string;
  readonly url: string;
  /** Everything logged so far. */
  logged(): string;
  post(path: string, body: Json | string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const stateFolder = mkdtempSync(join(tmpdir(), 'kymera-server-'));
const running: RunningServer[] = [];
const cel = await loadCelCompilers();

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop(1_000)));
});

export const certificate = () => keepSelfSigned(stateFolder, ['localhost', '127.0.0.1']);

/** A server on a socket of its own, with these policies. */
export async function startTestServer(
  policies: string,
  options: Partial<ServerOptions> = {},
): Promise<TestServer> {
  const { ca, cert, key } = await certificate();
  const lines: string[] = [];
  const log = createServeLog('debug', { isTTY: false, write: (text) => void lines.push(String(text)) });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    certificate: { cert, key },
    provider: providerOf(policies),
    log,
    ...options,
  });
  running.push(server);
  const url = `https://127.0.0.1:${server.port}`;
  return {
    server,
    ca,
    url,
    logged: () => {
      log.flush();
      return lines.join('');
    },
    post: (path, body, headers) =>
      send(`${url}${path}`, { ca, method: 'POST', body: bytesOf(body), ...(headers ? { headers } : {}) }),
    get: (path) => send(`${url}${path}`, { ca, method: 'GET' }),
  };
}

export function providerOf(policies: string): PolicyProvider {
  const loaded = loadDocuments([{ file: 'policies.yaml', text: policies }], { cel });
  const errors = loaded.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const sets = createPolicySets(loaded.policies, loaded.exceptions);
  return {
    current: () => sets,
    readiness: () => ({ ready: true, checks: [] }),
    onChange: () => () => undefined,
  };
}

export interface HeldData {
  readonly dataSource: DataSource;
  /** How often it was read. */
  asked(): number;
  release(): void;
}

/** Data that comes when it is let go. */
export function heldData(value: Json): HeldData {
  let count = 0;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    dataSource: {
      read: async () => {
        count += 1;
        await gate;
        return { found: true, value };
      },
    },
    asked: () => count,
    release: () => release(),
  };
}

export interface Sending {
  readonly ca: string;
  readonly method: string;
  readonly body?: Buffer;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
  readonly cert?: string;
  readonly key?: string;
}

export function send(url: string, { body, headers, method, ...tls }: Sending): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const agent = tls.agent ?? new Agent({ keepAlive: false });
    const request = httpsRequest(
      url,
      {
        ...tls,
        agent,
        method,
        headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(parts).toString(),
            headers: response.headers,
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function bytesOf(body: Json | string | Buffer): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

export const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { containers: [{ name: 'app', image: 'nginx:latest' }] },
};

/** A review of an object, as an API server sends it. */
export function reviewOf(object: JsonObject, request: Readonly<Record<string, Json>> = {}): JsonObject {
  const [first = '', second] = String(object['apiVersion']).split('/');
  const [group, version] = second === undefined ? ['', first] : [first, second];
  const kind = String(object['kind']);
  const metadata = object['metadata'] as JsonObject;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '5d1b0c1e-0000-4000-8000-000000000001',
      kind: { group, version, kind },
      resource: { group, version, resource: `${kind.toLowerCase()}s` },
      name: metadata['name'] ?? '',
      namespace: metadata['namespace'] ?? '',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['system:authenticated'] },
      object,
      oldObject: null,
      dryRun: false,
      ...request,
    },
  };
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly status?: { readonly message: string };
}

export function responseIn({ text }: Answer): Response {
  return (JSON.parse(text) as { response: Response }).response;
}

export function patchIn(answer: Answer): Json {
  const { patch } = responseIn(answer);
  return patch === undefined ? null : (JSON.parse(Buffer.from(patch, 'base64').toString()) as Json);
}

export interface PolicyParts {
  readonly spec?: string;
  readonly annotations?: string;
  readonly kinds?: string;
  readonly operations?: string;
}

/** A policy with one rule, called `rule`. */
export function policyText(name: string, rule: string, parts: PolicyParts = {}): string {
  return `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: ${name}
  annotations: { pod-policies.kyverno.io/autogen-controllers: none${parts.annotations === undefined ? '' : `, ${parts.annotations}`} }
spec:
  ${parts.spec ?? 'failurePolicy: Fail'}
  rules:
  - name: rule
    match: {any: [{resources: {kinds: [${parts.kinds ?? 'Pod'}]${parts.operations === undefined ? '' : `, operations: [${parts.operations}]`}}}]}
    ${rule}
`;
}

export function labelPolicy(name: string, label: string, parts: PolicyParts = {}): string {
  return policyText(name, `mutate: {patchStrategicMerge: {metadata: {labels: {${label}}}}}`, parts);
}
