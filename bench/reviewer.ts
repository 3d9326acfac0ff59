// The review that the server runs, without HTTP. bench/run.mjs bundles this file.
import { createPolicySetIndexers, createPolicySets } from '../src/admission/policy-sets.ts';
import { completeSteps } from '../src/engine/steps.ts';
import type { Json } from '../src/json/value.ts';
import { celCompilers } from '../src/policy/cel/language.ts';
import { loadDocuments } from '../src/policy/load.ts';
import { createMetrics, followPolicies } from '../src/server/metrics/metrics.ts';
import { createReviewer } from '../src/server/reviews/reviewer.ts';

const silentLog = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  infoText: () => undefined,
  isLevelEnabled: () => false,
};

type Files = Parameters<typeof loadDocuments>[0];

function load(files: Files) {
  const { policies, problems } = loadDocuments(files, { cel: celCompilers });
  if (problems.length > 0) throw new Error(`the policies have problems: ${JSON.stringify(problems[0])}`);
  return policies;
}

/** The policies of a server, with its metrics. */
export function createBenchPolicies(files: Files) {
  let policies = load(files);
  const indexers = createPolicySetIndexers();
  let sets = createPolicySets(policies, [], { indexers });
  let changed: () => void = () => undefined;
  const provider = {
    current: () => sets,
    readiness: () => ({ ready: true, checks: [] }),
    onChange: (listener: () => void) => {
      changed = listener;
      return () => undefined;
    },
  };
  const metrics = createMetrics();
  followPolicies(metrics, provider);
  const review = createReviewer({ provider, metrics, log: silentLog });
  return {
    /** Reviews a parsed AdmissionReview and returns the answer as JSON. */
    reviewer: (body: Json) => completeSteps(review(body, { set: 'all' }, 10_000, '/mutate')),
    load,
    /** Adds a policy or replaces it, until the next review can use it. */
    add(file: Files[number]) {
      const added = load([file]);
      const names = new Set(added.map(({ key }) => key));
      policies = [...policies.filter(({ key }) => !names.has(key)), ...added];
      sets = createPolicySets(policies, [], { indexers });
      changed();
      const kind = { group: '', version: 'v1', kind: 'Pod', subresource: '' };
      const request = { name: 'web', namespace: 'shop' };
      const subject = {
        ...request,
        request,
        generateName: '',
        labels: {},
        annotations: {},
        namespaceLabels: () => ({}),
        labelsOfVersions: () => [],
      };
      sets.all.candidates({ ...kind, operation: 'CREATE', subject });
    },
  };
}
