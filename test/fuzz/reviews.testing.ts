import { Agent } from 'node:https';
import { applyPatch as applyReference } from 'fast-json-patch';
import { createPolicySets } from '../../src/admission/policy-sets.ts';
import { equal } from '../../src/json/equal.ts';
import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { UserPatchOperation } from '../../src/json/patch/operation.ts';
import { isObject, type Json, type JsonObject, member } from '../../src/json/value.ts';
import { ownSamples } from '../conformance/policy-samples.ts';
import { reviewOf, send, startTestServer } from '../server/running-server.testing.ts';
import type { Fuzzer } from './fuzzer.testing.ts';
import { createRandom, mutateJson, type Random } from './random.testing.ts';

interface ReviewInput {
  readonly path: string;
  readonly body: string;
}

const samples = ownSamples().filter(({ set }) => set.policies.length > 0);
const objects = samples
  .flatMap((sample) => sample.objects)
  .filter((object) => isObject(member(object, 'metadata')));
const paths = [
  '/mutate',
  '/mutate/fail',
  '/mutate/ignore',
  '/mutate/fail/finegrained/p',
  '/mutate/ignore/finegrained/shop/p',
  '/mutate/%66ail',
  '/mutate/',
  '/mutate/other',
];
const queries = [
  '',
  '',
  '',
  '?timeout=10s',
  '?timeout=1ms',
  '?timeout=-1s',
  '?timeout=x',
  '?timeout=10s&timeout=5s',
];
const allowedStatuses = new Set([200, 400, 404, 413, 417, 503]);
const policiesPerSet = 8;

function generate(random: Random): ReviewInput {
  const original = random.pick(objects);
  const plain = reviewOf(original, {
    uid: `${random.below(1e9)}`,
    operation: random.pick(['CREATE', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT', 'OTHER']),
    object: random.oneIn(2) ? original : mutateJson(original, random),
    oldObject: random.oneIn(4) ? random.pick(objects) : null,
  });
  const text = stringifyJson(random.oneIn(3) ? mutateJson(plain, random) : plain);
  return {
    path: random.pick(paths) + random.pick(queries),
    body: random.oneIn(10) ? damaged(text, random) : text,
  };
}

function damaged(text: string, random: Random): string {
  const at = random.below(text.length);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${random.pick([...'{}[]",:\\\u0000'])}${text.slice(at + 1)}`;
    case 2:
      return '['.repeat(random.below(200_000));
    case 3:
      return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",${text.slice(1)}`;
    default:
      return random.pick(['', 'null', '[]', '"x"', '{}', '{"request":null}', '\ufeff{}']);
  }
}

/** Sends reviews to a server on loopback. Each review meets another set of policies. */
export async function reviewFuzzer(): Promise<Fuzzer<ReviewInput>> {
  const random = createRandom(1);
  const policies = samples.flatMap(({ set }) => set.policies);
  const sets = Array.from({ length: 200 }, () =>
    createPolicySets(Array.from({ length: policiesPerSet }, () => random.pick(policies))),
  );
  let turn = 0;
  const server = await startTestServer('', {
    log: {
      isLevelEnabled: () => false,
      info: () => {},
      warn: () => {},
      error: () => {},
      debug: () => {},
    } as never,
    provider: {
      current: () => sets[turn++ % sets.length] as (typeof sets)[number],
      readiness: () => ({ ready: true, checks: [] }),
      onChange: () => () => undefined,
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    name: 'reviews',
    generate,
    async check({ path, body }) {
      const answer = await send(`${server.url}${path}`, {
        ca: server.ca,
        method: 'POST',
        body: Buffer.from(body),
        agent,
      });
      if (!allowedStatuses.has(answer.status)) throw new Error(`status ${answer.status}: ${answer.text}`);
      if (answer.status === 200) checkReview(parseJson(body), parseJson(answer.text));
      else if (typeof member(parseJson(answer.text) as JsonObject, 'error') !== 'string')
        throw new Error(`no error in ${answer.text}`);
    },
  };
}

function checkReview(sent: Json, answer: Json): void {
  const request = readObject(sent, 'request');
  const response = readObject(answer, 'response');
  if (member(response, 'uid') !== member(request, 'uid')) throw new Error('the uid differs');
  if (typeof member(response, 'allowed') !== 'boolean') throw new Error('there is no verdict');
  const patch = member(response, 'patch');
  if (patch === undefined) return;
  const decoded = Buffer.from(String(patch), 'base64').toString();
  const operations = parseJson(decoded) as readonly UserPatchOperation[];
  const object = member(request, 'object') ?? null;
  const patched = applyPatch(object, operations);
  if (!isObject(patched)) throw new Error('the patch does not lead to an object');
  // The reference refuses prototype keys, and both sides lose digits of large integers in the same way.
  if (decoded.includes('__proto__') || decoded.includes('prototype')) return;
  const { newDocument } = applyReference(JSON.parse(stringifyJson(object)), JSON.parse(decoded), true);
  if (!equal(newDocument as Json, JSON.parse(stringifyJson(patched)) as Json)) {
    throw new Error('fast-json-patch gives another object');
  }
}

function readObject(value: Json, key: string): JsonObject {
  const found = isObject(value) ? member(value, key) : undefined;
  if (!isObject(found)) throw new Error(`there is no ${key}`);
  return found;
}
