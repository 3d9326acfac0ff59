// Growth: what ten policies cost alone, and among others for the same kind that do not match; and what a change costs.
import { measureReview } from './review.mjs';

const sizes = [1_000, 10_000];
const reviews = 1_000;
const rounds = 7;

/** The clause in which the other policies differ from the ten. */
const clauses = {
  names: (index) => `names: [other-${index}]`,
  namespaces: (index) => `namespaces: [other-${index}]`,
  labels: (index) => `selector: {matchLabels: {app: other-${index}}}`,
};

export async function benchGrowth({ createBenchPolicies }, files, review, report) {
  const alone = await createBenchPolicies(files);
  for (const [name, clauseOf] of Object.entries(clauses)) {
    for (const size of sizes) {
      const among = await createBenchPolicies([...files, ...others(size, clauseOf)]);
      const ratio = await costRatio(among.reviewer, alone.reviewer, review);
      report(`ten policies among ${size} with other ${name}, times alone`, ratio, '×', 1.5);
    }
  }
  report(
    'load 1,000 policies',
    median(3, () => alone.load(others(1_000, clauses.names))),
    'ms',
    1_000,
  );
  const large = await createBenchPolicies(others(10_000, clauses.names));
  const [added] = others(1, () => 'names: [added]');
  report(
    'add a policy to 10,000',
    median(9, () => large.add(added)),
    'ms',
    20,
  );
}

/** Alternates, so that both are measured on an equally busy machine. */
async function costRatio(reviewer, baseline, review) {
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const { cpu: floor } = await measureReview(() => baseline(review), reviews);
    const { cpu } = await measureReview(() => reviewer(review), reviews);
    ratios.push(cpu / floor);
  }
  return middle(ratios);
}

function others(count, clauseOf) {
  return Array.from({ length: count }, (_, index) => ({
    file: `other-${index}.yaml`,
    text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: other-${index}}
spec:
  rules:
  - name: rule
    match: {any: [{resources: {kinds: [Pod], ${clauseOf(index)}}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {other: "${index}"}}}}
`,
  }));
}

function median(times, run) {
  return middle(
    Array.from({ length: times }, () => {
      const before = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    }),
  );
}

function middle(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
}
