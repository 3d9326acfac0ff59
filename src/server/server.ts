import { createServer as createPlainServer } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { ReadinessCheck } from '../admission/policy-provider.ts';
import { type Connections, trackConnections } from './connections.ts';
import { Refusal, refuse } from './http-error.ts';
import { createMetrics, followPolicies, type Metrics } from './metrics/metrics.ts';
import { addAdmissionRoutes, type ReviewAnswerer } from './reviews/admission-routes.ts';
import { createDecisionLog } from './reviews/decision-log.ts';
import { type NodeShortcut, takeShortcut } from './reviews/node-shortcut.ts';
import { createReviewShortcut } from './reviews/review-shortcut.ts';
import { createReviewer, type ReviewerOptions } from './reviews/reviewer.ts';
import { addStatusRoutes } from './status-routes.ts';
import { expiryOf, type ServingCertificate, secureContextOf } from './tls.ts';
import { createTlsServer, readDirectly, type TlsServerOptions } from './tls-server.ts';

export interface ServerOptions extends Omit<ReviewerOptions, 'metrics' | 'decisions'> {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly certificate: ServingCertificate;
  /** PEM: callers of admission paths must show a certificate of this authority. */
  readonly clientCa?: string | undefined;
  /** In bytes. */
  readonly bodyLimit?: number | undefined;
  /** How long the body of a request may take to arrive. */
  readonly bodyMilliseconds?: number | undefined;
  /** How many decisions to keep for `/debug/decisions`; none when absent. */
  readonly keepDecisions?: number | undefined;
  /** Also serve `/metrics` and health without TLS, on this port. */
  readonly metricsPort?: number | undefined;
  /** Other webhooks to answer, by path. */
  readonly otherWebhooks?: ReadonlyMap<string, ReviewAnswerer> | undefined;
  /** Further checks that readiness depends on or only shows. */
  readonly checks?: (() => readonly ReadinessCheck[]) | undefined;
  /** Figures and decisions of all processes that share the port; of this one when absent. */
  readonly gather?: Gather | undefined;
}

/** Puts together what several processes know. */
export interface Gather {
  metrics(own: () => Promise<object[]>): Promise<string>;
  decisions(own: () => readonly object[]): Promise<readonly object[]>;
}

export interface RunningServer {
  readonly port: number;
  readonly metricsPort: number | undefined;
  readonly metrics: Metrics;
  /** For other processes that gather. */
  metricsAsJson(): Promise<object[]>;
  decisions(): readonly object[];
  /** Connections that are open stay open. */
  setCertificate(certificate: ServingCertificate): void;
  /** Not ready from now on, but everything is still answered: time for others to stop sending. */
  announceStop(): void;
  /** Not ready at once; reviews in flight are answered, within so many milliseconds. */
  stop(graceMilliseconds?: number): Promise<void>;
}

const defaultBodyLimit = 8 * 1024 * 1024;
const defaultGrace = 25_000;
const defaultBodyMilliseconds = 30_000;
const idleMilliseconds = 180_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const metrics = createMetrics();
  const unfollow = followPolicies(metrics, options.provider);
  const decisions =
    options.keepDecisions === undefined ? undefined : createDecisionLog(options.keepDecisions);
  const reviewer = createReviewer({ ...options, metrics, ...(decisions === undefined ? {} : { decisions }) });
  let isDraining = false;

  const bodyLimit = options.bodyLimit ?? defaultBodyLimit;
  const times = {
    bodyMilliseconds: options.bodyMilliseconds ?? defaultBodyMilliseconds,
    idleMilliseconds,
  };
  const others = options.otherWebhooks ?? new Map();
  const shortcut = createReviewShortcut({ reviewer, others, metrics, log: options.log, bodyLimit });
  const rules = { isGuarded: options.clientCa !== undefined, isDraining: () => isDraining };
  const app = createApp({ ...options, ...times, bodyLimit }, takeShortcut(shortcut, rules));
  const server = app.server as unknown as Http2SecureServer;
  readDirectly(server, {
    ...rules,
    ...times,
    shortcut,
    onBusy: (socket, isBusy) => connections.setBusy(socket, isBusy),
  });
  const connections = trackConnections(server);
  observeHttp(app, metrics, () => isDraining);
  guardAdmission(app, options);
  addAdmissionRoutes(app, { reviewer, others });
  const own = {
    metrics: () => metrics.registry.getMetricsAsJSON(),
    decisions: () => decisions?.records() ?? [],
  };
  const status = {
    readiness: () => readinessOf(options, isDraining),
    metrics: () => options.gather?.metrics(own.metrics) ?? metrics.registry.metrics(),
    ...(decisions === undefined
      ? {}
      : { decisions: async () => (await options.gather?.decisions(own.decisions)) ?? own.decisions() }),
  };
  addStatusRoutes(app, status);
  await app.listen({ host: options.host, port: options.port });
  metrics.setCertificateExpiry(expiryOf(options.certificate));
  const plain = await startPlain(options, status);

  return {
    port: portOf(server),
    metricsPort: plain === undefined ? undefined : portOf(plain.server),
    metrics,
    metricsAsJson: own.metrics,
    decisions: own.decisions,
    setCertificate(certificate) {
      server.setSecureContext(secureContextOf(certificate, options.clientCa));
      metrics.setCertificateExpiry(expiryOf(certificate));
    },
    announceStop() {
      isDraining = true;
    },
    async stop(graceMilliseconds = defaultGrace) {
      isDraining = true;
      unfollow();
      await drain(server, connections, graceMilliseconds);
      await Promise.all([app.close(), plain?.close()]);
    },
  };
}

function createApp(
  options: ServerOptions & TlsServerOptions & { readonly bodyLimit: number },
  shortcut: NodeShortcut,
): FastifyInstance {
  const app = fastify({
    http2: true,
    serverFactory: (handler) => createTlsServer(options, shortcut, handler),
    bodyLimit: options.bodyLimit,
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      void refuse(error, request, reply as unknown as FastifyReply, options.log),
  });
  return finishApp(app as unknown as FastifyInstance, options);
}

function finishApp(app: FastifyInstance, { log }: ServerOptions): FastifyInstance {
  app.setErrorHandler((error: Error, request, reply) => refuse(error, request, reply, log));
  app.setNotFoundHandler((request, reply) => {
    const isKnown = ['POST', 'GET'].some((method) =>
      app.hasRoute({ method: method as 'POST', url: request.url.split('?', 1)[0] ?? '' }),
    );
    return refuse(
      isKnown
        ? new Refusal(405, 'the method is not allowed here')
        : new Refusal(404, 'there is nothing here'),
      request,
      reply,
      log,
    );
  });
  return app;
}

/** Counts requests, and while draining asks HTTP/1 callers not to come back on the same connection. */
function observeHttp(app: FastifyInstance, metrics: Metrics, isDraining: () => boolean): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isDraining() && request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.httpCount(request.method, route, reply.statusCode)(reply.elapsedTime / 1000);
    done();
  });
}

/** Health stays open: those who ask for it have no certificate to show. */
function guardAdmission(app: FastifyInstance, { clientCa }: ServerOptions): void {
  if (clientCa === undefined) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const isGuarded = request.method === 'POST' || request.url.startsWith('/debug/');
    const isKnown = (request.raw.socket as TLSSocket).authorized === true;
    done(isGuarded && !isKnown ? new Refusal(403, 'a client certificate is required') : undefined);
  });
}

function readinessOf({ provider, checks }: ServerOptions, isDraining: boolean) {
  const policies = provider.readiness();
  const all = [
    ...policies.checks,
    ...(checks?.() ?? []),
    ...(isDraining ? [{ name: 'shutdown', ok: false, detail: 'the server is stopping' }] : []),
  ];
  return { ready: policies.ready && !isDraining, checks: all };
}

async function startPlain(options: ServerOptions, status: Parameters<typeof addStatusRoutes>[1]) {
  if (options.metricsPort === undefined) return undefined;
  const app = fastify({ logger: false, forceCloseConnections: true, serverFactory: createPlainServer });
  const { decisions: _, ...open } = status;
  addStatusRoutes(finishApp(app, options), open);
  await app.listen({ host: options.host, port: options.metricsPort });
  return app;
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

/** Takes no new connections, and lets those with work to do finish it. */
async function drain(
  server: Http2SecureServer,
  connections: Connections,
  milliseconds: number,
): Promise<void> {
  server.close();
  const endsAt = performance.now() + milliseconds;
  while (performance.now() < endsAt) {
    connections.closeIdle();
    if (connections.open === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  connections.closeAll();
}
