import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { Registry } from 'prom-client';
import type { Readiness } from '../admission/policy-provider.ts';
import { type BackgroundSource, registerBackgroundMetrics } from './metrics/background-metrics.ts';
import { type ClusterSource, registerClusterMetrics } from './metrics/cluster-metrics.ts';
import { registerProcessMetrics } from './metrics/process-metrics.ts';
import { addStatusRoutes } from './status-routes.ts';

export interface BackgroundServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly readiness: () => Readiness;
  readonly source: BackgroundSource;
  readonly cluster: () => ClusterSource;
}

export interface BackgroundServer {
  readonly port: number;
  stop(): Promise<void>;
}

const connectionLimit = 100;

/** Serves health and metrics of a process that answers no reviews. */
export async function startBackgroundServer(options: BackgroundServerOptions): Promise<BackgroundServer> {
  const registry = new Registry();
  registerProcessMetrics(registry);
  registerBackgroundMetrics(registry, options.source);
  registerClusterMetrics(registry, options.cluster);
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    serverFactory: (handler) => createServer(handler),
  });
  app.server.maxConnections = connectionLimit;
  addStatusRoutes(app, { readiness: options.readiness, metrics: () => registry.metrics() });
  await app.listen({ host: options.host, port: options.port });
  return { port: (app.server.address() as AddressInfo).port, stop: () => app.close() };
}
