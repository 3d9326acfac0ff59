// The review that the server runs, without HTTP. bench/run.mjs bundles this file.
import { createPolicySets } from '../src/admission/policy-sets.ts';
import { completeSteps } from '../src/engine/steps.ts';
import type { Json } from '../src/json/value.ts';
import { celCompilers } from '../src/policy/cel/language.ts';
import { loadDocuments } from '../src/policy/load.ts';
import { createMetrics } from '../src/server/metrics/metrics.ts';
import { createReviewer } from '../src/server/reviews/reviewer.ts';

const silentLog = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  isLevelEnabled: () => false,
};

/** Returns a function that reviews a parsed AdmissionReview and returns the answer as JSON. */
export function createBenchReviewer(files: Parameters<typeof loadDocuments>[0]) {
  const { policies, problems } = loadDocuments(files, { cel: celCompilers });
  if (problems.length > 0) throw new Error(`the policies have problems: ${JSON.stringify(problems[0])}`);
  const sets = createPolicySets(policies);
  const provider = {
    current: () => sets,
    readiness: () => ({ ready: true, checks: [] }),
    onChange: () => () => undefined,
  };
  const review = createReviewer({ provider, metrics: createMetrics(), log: silentLog });
  return (body: Json) => completeSteps(review(body, { set: 'all' }, 10_000, '/mutate'));
}
