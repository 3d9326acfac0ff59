import type { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Readiness } from '../admission/policy-provider.ts';
import { stringifyJson } from '../json/json-text.ts';
import { HttpError } from './http-error.ts';

export interface StatusRoutes {
  readonly readiness: () => Readiness;
  /** In the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  /** Absent when decisions are not kept. */
  readonly decisions?: (() => Promise<readonly object[]>) | undefined;
  /** Decisions are shown only to callers that present a verified client certificate. */
  readonly needsCertificate?: boolean | undefined;
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Adds health, metrics and recent decisions. */
export function addStatusRoutes(app: FastifyInstance, routes: StatusRoutes): void {
  const { readiness, metrics, decisions, needsCertificate = false } = routes;
  for (const path of ['/healthz', '/livez', '/health/liveness']) {
    app.get(path, (_request, reply) => reply.type('text/plain').send('ok\n'));
  }
  for (const path of ['/readyz', '/health/readiness']) {
    app.get(path, (request, reply) => {
      const state = readiness();
      const isVerbose = Object.hasOwn(request.query as object, 'verbose');
      return reply
        .code(state.ready ? 200 : 503)
        .type('text/plain')
        .send(isVerbose ? verboseText(state) : `${state.ready ? 'ok' : 'not ready'}\n`);
    });
  }
  app.get('/metrics', async (_request, reply) => reply.type(metricsType).send(await metrics()));
  app.get('/debug/decisions', async (request, reply) => {
    if (needsCertificate && !(request.raw.socket as TLSSocket).authorized)
      throw new HttpError(403, 'a client certificate is required');
    if (decisions === undefined) throw new HttpError(404, 'decisions are not kept: see --debug-decisions');
    if (!isLoopback(request)) throw new HttpError(403, 'decisions are shown on this machine only');
    return reply.type('application/json').send(`${stringifyJson(await decisions(), 2)}\n`);
  });
}

function verboseText({ ready, checks }: Readiness): string {
  const lines = checks.map(
    ({ name, ok, detail }) => `[${ok ? '+' : '-'}] ${name}${detail === undefined ? '' : `: ${detail}`}`,
  );
  return `${[...lines, ready ? 'ready' : 'not ready'].join('\n')}\n`;
}

/** The address of the connection: a header could claim any address. */
function isLoopback(request: FastifyRequest): boolean {
  const address = request.raw.socket.remoteAddress ?? '';
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}
