import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from '../../server/http-error.ts';
import type { Session, SessionRole } from './session.ts';

const roles: ReadonlySet<string> = new Set<SessionRole>(['policies', 'resources', 'context', 'files']);

/** The routes for the files of a session. Only the page with the token may use them. */
export function addSessionRoutes(app: FastifyInstance, session: Session, token: string): void {
  app.addHook('onRequest', async (request) => checkHost(request));
  // At each route: a check by the path would not see `/%73ession`.
  const withToken = { onRequest: async (request: FastifyRequest) => checkToken(request, token) };
  app.setErrorHandler((error: Error, _request, reply) => {
    const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    return reply.code(status).send({ error: error.message });
  });
  app.get('/session', withToken, () => session.state());
  app.get<{ Querystring: { since?: string } }>('/session/changes', withToken, ({ query }) =>
    session.changed(Number(query.since)),
  );
  app.put('/session/file', withToken, async (request, reply) => {
    const { role, name, before, text } = readEdit(request.body);
    await session.save(role, name, before, text);
    return reply.send({ saved: name });
  });
}

/** A page of another site could reach this server under a name of its own (DNS rebinding). */
function checkHost({ headers, raw }: FastifyRequest): void {
  const port = raw.socket.localPort;
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!own.includes(headers.host ?? '')) throw new HttpError(403, 'open the playground at its own address');
  const { origin } = headers;
  if (origin !== undefined && !own.includes(origin.replace(/^http:\/\//, ''))) {
    throw new HttpError(403, 'a page of another origin must not use the playground');
  }
}

function checkToken({ headers }: FastifyRequest, token: string): void {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new HttpError(
      401,
      'the token of the address is missing or old: open the address that kymera printed',
    );
  }
}

function readEdit(body: unknown): { role: SessionRole; name: string; before: string; text: string } {
  const { role, name, before, text } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (
    typeof role !== 'string' ||
    !roles.has(role) ||
    typeof name !== 'string' ||
    typeof before !== 'string' ||
    typeof text !== 'string'
  ) {
    throw new HttpError(400, 'the body must have role, name, before and text');
  }
  return { role: role as SessionRole, name, before, text };
}
