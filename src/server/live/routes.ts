import type { FastifyInstance, FastifyRequest } from 'fastify';
import { modeOf } from '../../admission/policy-mode.ts';
import type { PolicyProvider, Readiness } from '../../admission/policy-provider.ts';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import { policyId } from '../../policy/policy-id.ts';
import { HttpError, notFound } from '../http-error.ts';
import type { DecisionRecord } from '../reviews/decision-log.ts';
import { isAcceptedToken } from '../reviews/path-token.ts';
import { summarizeMetrics } from './summary.ts';

export interface LiveRoutes {
  /** What callers must present. */
  readonly token: string;
  readonly provider: PolicyProvider;
  readonly readiness: () => Readiness;
  readonly metrics: () => Promise<string>;
  /** Absent when decisions are not kept. */
  readonly decisions?: (() => Promise<readonly object[]>) | undefined;
}

const bearer = 'Bearer ';

/** Adds what the live view of the page reads. It only reads. */
export function addLiveRoutes(app: FastifyInstance, routes: LiveRoutes): void {
  const { token, provider, readiness, metrics, decisions } = routes;
  const records = async () => (await decisions?.()) as readonly DecisionRecord[] | undefined;
  const authenticate = async ({ headers: { authorization = '' } }: FastifyRequest) => {
    const given = authorization.startsWith(bearer) ? authorization.slice(bearer.length) : '';
    if (!isAcceptedToken(given, [token])) throw new HttpError(401, 'the token of the live view is required');
  };
  const options = { onRequest: authenticate };

  app.get('/live', options, async (_request, reply) => {
    const { ready, checks } = readiness();
    const kept = await records();
    const state = {
      time: Date.now(),
      ready,
      checks,
      policies: provider.current().all.policies.map((policy) => ({
        key: policyId(policy),
        kind: policy.kind,
        mode: modeOf(policy),
        rules: policy.rules.length + policy.generateRules.length,
      })),
      metrics: summarizeMetrics(await metrics()),
      decisions:
        kept?.map(({ request, ...record }) => ({ ...record, canOpen: request !== undefined })) ?? null,
    };
    return reply.type('application/json').header('cache-control', 'no-store').send(stringifyJson(state));
  });

  app.get<{ Params: { uid: string } }>('/live/decisions/:uid', options, async ({ params }, reply) => {
    const record = (await records())?.findLast(({ uid }) => uid === params.uid);
    if (record?.request === undefined) throw notFound();
    const keys = new Set(record.rules.map(({ policy }) => policy));
    const policies = provider.current().all.policies.filter((policy) => keys.has(policyId(policy)));
    const opened = {
      request: parseJson(record.request),
      policies: policies.map((policy) => ({ key: policyId(policy), document: policy.document })),
    };
    return reply.type('application/json').header('cache-control', 'no-store').send(stringifyJson(opened));
  });
}
