import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Readiness } from '../admission/policy-provider.ts';
import { Refusal } from './http-error.ts';

export interface StatusRoutes {
  readonly readiness: () => Readiness;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  /** Absent when decisions are not kept. */
  readonly decisions?: (() => Promise<readonly object[]>) | undefined;
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Health, metrics, and what was decided. */
export function addStatusRoutes(app: FastifyInstance, { readiness, metrics, decisions }: StatusRoutes): void {
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
    if (decisions === undefined) throw new Refusal(404, 'decisions are not kept: see --debug-decisions');
    if (!isFromThisMachine(request)) throw new Refusal(403, 'decisions are shown on this machine only');
    return reply.type('application/json').send(`${JSON.stringify(await decisions(), undefined, 2)}\n`);
  });
}

function verboseText({ ready, checks }: Readiness): string {
  const lines = checks.map(
    ({ name, ok, detail }) => `[${ok ? '+' : '-'}] ${name}${detail === undefined ? '' : `: ${detail}`}`,
  );
  return `${[...lines, ready ? 'ready' : 'not ready'].join('\n')}\n`;
}

/** By the connection itself; headers can say anything. */
function isFromThisMachine(request: FastifyRequest): boolean {
  const address = request.raw.socket.remoteAddress ?? '';
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}
