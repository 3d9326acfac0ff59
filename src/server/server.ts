import {
  createServer as createPlainServer,
  type Server as HttpServer,
  type RequestListener,
} from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Blockage } from '../admission/blockage.ts';
import type { ReadinessCheck } from '../admission/policy-provider.ts';
import { limitConnections } from './connections.ts';
import { HttpError, notFound, sendError } from './http-error.ts';
import { addLiveRoutes } from './live/routes.ts';
import { createMetrics, followPolicies, type Metrics } from './metrics/metrics.ts';
import { addPageRoutes, type PageFiles } from './page.ts';
import { createBodyReader } from './reviews/body-reader.ts';
import { createDecisionLog } from './reviews/decision-log.ts';
import type { PathTokens } from './reviews/path-token.ts';
import { createReviewHandler, unknownPath } from './reviews/review-handler.ts';
import { createReviewer, type ReviewerOptions } from './reviews/reviewer.ts';
import type { Webhooks } from './reviews/routes.ts';
import { addStatusRoutes, type StatusRoutes } from './status-routes.ts';
import { createTlsServer, expiryOf, type ServingCertificate, secureContextOf } from './tls.ts';
import type { SharedBlockages } from './watchdog/stuck-rules.ts';
import { startWatchdog } from './watchdog/watchdog.ts';

export interface ServerOptions extends Omit<ReviewerOptions, 'metrics' | 'decisions' | 'watchdog'> {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly certificate: ServingCertificate;
  /** PEM: callers of webhooks must present a certificate of this authority. */
  readonly clientCa?: string | undefined;
  /** When given, webhook paths start with a token: see `reviews/path-token.ts`. */
  readonly pathTokens?: PathTokens | undefined;
  /** Called when the API server gave up waiting for a review. */
  readonly onAbandoned?: (() => void) | undefined;
  /** In bytes. */
  readonly bodyLimit?: number | undefined;
  /** Bytes that the bodies of all requests in flight may hold together, parsed values included. */
  readonly bodyBudget?: number | undefined;
  readonly connectionLimit?: number | undefined;
  /** How long a request may take to arrive, body included. */
  readonly requestMilliseconds?: number | undefined;
  /** How long a TLS handshake may take. */
  readonly handshakeMilliseconds?: number | undefined;
  /** How many decisions to keep for `/debug/decisions`; none when absent. */
  readonly keepDecisions?: number | undefined;
  /** Where rules that block the server are remembered; no watchdog when absent. */
  readonly watchdogFolder?: string | undefined;
  /** The rules that block other replicas. */
  readonly sharedBlockages?: SharedBlockages | undefined;
  /** Also serve `/metrics` and health without TLS, on this port. */
  readonly metricsPort?: number | undefined;
  /** Webhooks besides `/mutate`. */
  readonly otherWebhooks?: Omit<Webhooks, 'mutate'> | undefined;
  /** Served at `/`. */
  readonly page?: PageFiles | undefined;
  /** The token of the live view; no live view when absent. */
  readonly liveToken?: string | undefined;
  /** Further checks that readiness reports. */
  readonly checks?: (() => readonly ReadinessCheck[]) | undefined;
  /** Collects metrics and decisions of all processes that share the port; only of this one when absent. */
  readonly gather?: Gather | undefined;
}

/** Combines the metrics and decisions of several processes. */
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
  /** Open connections stay open. */
  setCertificate(certificate: ServingCertificate): void;
  /** Makes the server unready while it still answers everything, so that callers can go elsewhere. */
  announceStop(): void;
  /** Makes the server unready and answers the reviews in flight within the grace period. */
  stop(graceMilliseconds?: number): Promise<void>;
}

const defaultBodyLimit = 8 * 1024 * 1024;
/** Of the 512 MB that the chart allows. */
const minimumBodyBudget = 128 * 1024 * 1024;
const bodiesInBudget = 16;
/** API servers open one connection per request in flight, at most some hundred. */
const defaultConnectionLimit = 1_000;
const plainConnectionLimit = 100;
const defaultGraceMilliseconds = 25_000;
const defaultRequestMilliseconds = 10_000;
const drainIntervalMilliseconds = 20;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const metrics = createMetrics();
  const unfollow = followPolicies(metrics, options.provider);
  const decisions =
    options.keepDecisions === undefined
      ? undefined
      : createDecisionLog(options.keepDecisions, { keepRequests: options.liveToken !== undefined });
  const watchdog =
    options.watchdogFolder === undefined
      ? undefined
      : startWatchdog({
          folder: options.watchdogFolder,
          shared: options.sharedBlockages,
          log: options.log,
        });
  const bodyLimit = options.bodyLimit ?? defaultBodyLimit;
  let isDraining = false;

  const tls = {
    certificate: options.certificate,
    clientCa: options.clientCa,
    requestMilliseconds: options.requestMilliseconds ?? defaultRequestMilliseconds,
    handshakeMilliseconds: options.handshakeMilliseconds,
  };
  const needsCertificate = options.clientCa !== undefined;
  const handleReview = createReviewHandler({
    webhooks: {
      ...options.otherWebhooks,
      mutate: createReviewer({ ...options, metrics, decisions, watchdog }),
    },
    needsCertificate,
    pathTokens: options.pathTokens,
    readBody: createBodyReader({
      bodyLimit,
      budget: options.bodyBudget ?? Math.max(minimumBodyBudget, bodiesInBudget * bodyLimit),
    }),
    onAbandoned: options.onAbandoned,
    metrics,
    log: options.log,
  });
  const app = createApp(options, (handle) =>
    createTlsServer(tls, (request, response) => {
      connections.track(request, response);
      if (isDraining) response.setHeader('connection', 'close');
      if (!handleReview(request, response)) handle(request, response);
    }),
  );
  const server = app.server as HttpsServer;
  const connections = limitConnections(server, options.connectionLimit ?? defaultConnectionLimit);
  countRequests(app, metrics);
  const own = {
    metrics: () => metrics.registry.getMetricsAsJSON(),
    decisions: () => decisions?.records() ?? [],
  };
  const status: StatusRoutes = {
    readiness: () => readinessOf(options, isDraining, watchdog?.stuckRules() ?? []),
    metrics: () => options.gather?.metrics(own.metrics) ?? metrics.registry.metrics(),
    decisions: decisions && (async () => (await options.gather?.decisions(own.decisions)) ?? own.decisions()),
    needsCertificate,
  };
  addStatusRoutes(app, status);
  if (options.page !== undefined) addPageRoutes(app, options.page);
  if (options.liveToken !== undefined)
    addLiveRoutes(app, { ...status, token: options.liveToken, provider: options.provider });
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
    async stop(graceMilliseconds = defaultGraceMilliseconds) {
      isDraining = true;
      unfollow();
      // No new connections; requests in flight are answered, each with `Connection: close`.
      server.close();
      const endsAt = performance.now() + graceMilliseconds;
      while (connections.requestsInFlight > 0 && performance.now() < endsAt)
        await setTimeout(drainIntervalMilliseconds);
      connections.destroyAll();
      await Promise.all([app.close(), plain?.close(), watchdog?.stop()]);
    },
  };
}

function createApp(
  { log, pathTokens }: ServerOptions,
  serverFactory: (handle: RequestListener) => HttpServer,
): FastifyInstance {
  // Any unknown path may contain a token.
  const shownPath = (request: Pick<FastifyRequest, 'url' | 'routeOptions'>) =>
    pathTokens === undefined ? (request.url.split('?', 1)[0] ?? '') : labelOf(request);
  const app = fastify({
    serverFactory: (handle) => serverFactory(handle as RequestListener),
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      void sendError(error, shownPath(request), reply as unknown as FastifyReply, log),
  });
  // Only webhooks read bodies.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((error: Error, request, reply) => sendError(error, shownPath(request), reply, log));
  app.setNotFoundHandler((request, reply) => {
    const url = request.url.split('?', 1)[0] ?? '';
    const isKnown = (['POST', 'GET'] as const).some((method) => app.hasRoute({ method, url }));
    const error = isKnown ? new HttpError(405, 'the method is not allowed here') : notFound();
    return sendError(error, shownPath(request), reply, log);
  });
  return app;
}

function labelOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions?.url ?? unknownPath;
}

function countRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = reply.statusCode === 404 ? unknownPath : labelOf(request);
    metrics.countHttp(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
}

function readinessOf(
  { provider, checks }: ServerOptions,
  isDraining: boolean,
  stuckRules: readonly Blockage[],
) {
  const policies = provider.readiness();
  const all = [
    ...policies.checks,
    ...(checks?.() ?? []),
    ...stuckRules.map(({ policy, rule, namespace }) => ({
      name: `policy ${policy}, rule ${rule}`,
      ok: false,
      detail: `fails at once for objects of namespace "${namespace}": it has blocked the server twice`,
    })),
    ...(isDraining ? [{ name: 'shutdown', ok: false, detail: 'the server is stopping' }] : []),
  ];
  return { ready: policies.ready && !isDraining, checks: all };
}

async function startPlain(options: ServerOptions, status: StatusRoutes) {
  if (options.metricsPort === undefined) return undefined;
  const app = createApp(options, (handle) => createPlainServer(handle));
  addStatusRoutes(app, { ...status, decisions: undefined });
  app.server.maxConnections = plainConnectionLimit;
  await app.listen({ host: options.host, port: options.metricsPort });
  return app;
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}
