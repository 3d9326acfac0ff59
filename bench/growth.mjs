// How the cost of a review grows with the number of policies, the size of the object and the length of a list.
import { exponent, measurePair, median, medianTime, processorTime } from './measure.mjs';
import { assertAnswer } from './review.mjs';

const part = 'Growth';
const policyCounts = [10, 100, 1_000, 10_000];
const kilobytes = [1, 10, 100, 1_000];
const lengths = [10, 100, 1_000, 10_000];
/** Growth that is worse than linear is a defect. */
const linear = 1.15;

const pods = (clause) => `match: {any: [{resources: {kinds: [Pod], ${clause}}}]}`;
/** What rules out the other policies for the Pod of the review. */
const clauses = {
  names: (index) => pods(`names: [other-${index}]`),
  namespaces: (index) => pods(`namespaces: [other-${index}]`),
  labels: (index) => pods(`selector: {matchLabels: {app: other-${index}}}`),
  exclude: () =>
    'match: {any: [{resources: {kinds: [Pod]}}]}, exclude: {any: [{resources: {namespaces: [bench]}}]}',
};

export async function benchGrowth(bundle, files, review, { figure }) {
  await byPolicies(bundle, files, review, figure);
  await byObjectSize(bundle, files, review, figure);
  await byListLength(bundle, review, figure);
}

async function byPolicies({ createBenchPolicies }, files, review, figure) {
  const alone = createBenchPolicies(files);
  for (const [name, clauseOf] of Object.entries(clauses)) {
    const points = [];
    for (const count of policyCounts) {
      const among = createBenchPolicies([...files, ...others(count - files.length, clauseOf)]);
      const { cost, ratio } = await measurePair(
        () => among.reviewer(review),
        () => alone.reviewer(review),
        { times: 1_000 },
      );
      points.push([count, cost]);
      figure(part, `ten of ${count.toLocaleString('en-US')} policies match, others by ${name}`, cost, 'µs', {
        ratio,
        to: 'the ten alone',
        bar: { ratio: 1.5 },
        plot: 'policies',
        series: `other ${name}`,
        x: count,
      });
    }
    // The exponent is near zero, and so are its ratios. What all policies cost next to the ten says the same.
    figure(part, `exponent of growth with policies that differ by ${name}`, exponent(points), '', {
      ratio: points.at(-1)[1] / points[0][1],
      to: `the cost among ${policyCounts[0]}`,
      bar: { value: 0.1 },
    });
  }
  const { loadAll } = await import('js-yaml');
  const thousand = others(1_000, clauses.names);
  const loading = medianTime(3, () => alone.load(thousand));
  const parsing = medianTime(3, () => thousand.map(({ text }) => loadAll(text)));
  figure(part, 'load 1,000 policies', loading, 'ms', {
    ratio: loading / parsing,
    to: 'reading their YAML by js-yaml',
    bar: { value: 1_000 },
  });
  const large = createBenchPolicies(others(10_000, clauses.names));
  const [added] = others(1, () => pods('names: [added]'));
  const adding = medianTime(9, () => large.add(added));
  figure(part, 'add a policy to 10,000', adding, 'ms', {
    ratio: adding / loading,
    to: 'loading 1,000',
    bar: { value: 20 },
  });
}

async function byObjectSize({ createBenchPolicies }, files, review, figure) {
  const { reviewer } = createBenchPolicies(files);
  const points = [];
  const floor = [];
  for (const size of kilobytes) {
    const text = JSON.stringify(withSize(review, size * 1_000));
    const times = Math.max(20, 1_000 / size);
    const roundTrip = () => JSON.stringify(JSON.parse(text));
    await assertAnswer(() => reviewer(JSON.parse(text)));
    const measured = await measurePair(() => reviewer(JSON.parse(text)), roundTrip, { times });
    const { cost, ratio } = measured;
    points.push([text.length, cost]);
    floor.push([text.length, measured.floor]);
    figure(part, `a Pod of ${size.toLocaleString('en-US')} KB, JSON in, JSON out`, cost, 'µs', {
      ratio,
      to: 'reading and writing the JSON',
      plot: 'size',
      series: 'ten policies',
      x: size,
    });
  }
  // JSON.parse itself grows faster than the text, because large objects are garbage for longer.
  const value = exponent(points.slice(-2));
  figure(part, 'exponent of growth with the size of the object', value, '', {
    ratio: value / exponent(floor.slice(-2)),
    to: 'the exponent of reading and writing the JSON',
    bar: { ratio: linear },
  });
}

async function byListLength({ createBenchPolicies }, review, figure) {
  for (const [name, { mutation }] of Object.entries(listMutations)) {
    const { reviewer } = createBenchPolicies([policyWith(name, mutation)]);
    const points = [];
    for (const length of lengths) {
      const long = withEnv(review, length);
      await assertAnswer(() => reviewer(long));
      const cost = await medianCost(() => reviewer(long), Math.max(5, 10_000 / length));
      points.push([length, cost]);
      figure(part, `${name}, ${length.toLocaleString('en-US')} items`, cost, 'µs', {
        ratio: cost / (points[0][1] * (length / lengths[0])),
        to: 'the time of ten items, in proportion',
        plot: 'list',
        series: name,
        x: length,
      });
    }
    growth(figure, `exponent of growth: ${name}`, points);
  }
}

const listMutations = {
  'foreach that changes every item': {
    mutation: `foreach:
      - list: request.object.spec.containers[0].env
        patchesJson6902: |-
          - {op: replace, path: "/spec/containers/0/env/{{ elementIndex }}/value", value: "{{ element.name }}"}`,
  },
  'foreach that changes one item': {
    mutation: `foreach:
      - list: request.object.spec.containers[0].env
        preconditions:
          all:
          - {key: "{{ element.name }}", operator: Equals, value: NAME_5}
        patchesJson6902: |-
          - {op: replace, path: "/spec/containers/0/env/{{ elementIndex }}/value", value: "{{ element.name }}"}`,
  },
  'merge that changes every item': {
    mutation: `patchStrategicMerge:
        spec:
          containers:
          - name: c0
            env:
            - (name): "*"
              value: changed`,
  },
};

/** A single measurement of a long list depends on when garbage is collected. */
async function medianCost(run, times) {
  const costs = [];
  for (let round = 0; round < 5; round += 1) costs.push(await processorTime(run, times));
  return median(costs);
}

/** Between the two largest sizes, where the constant part no longer hides the growth. */
function growth(figure, name, points) {
  const value = exponent(points.slice(-2));
  figure(part, name, value, '', { ratio: value, to: 'linear growth', bar: { ratio: linear } });
}

function policyWith(name, mutation) {
  return {
    file: `${name}.yaml`,
    text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: lists}
spec:
  rules:
  - name: rule
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      ${mutation}
`,
  };
}

function others(count, clauseOf) {
  return Array.from({ length: count }, (_, index) => ({
    file: `other-${index}.yaml`,
    text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: other-${index}}
spec:
  rules:
  - {name: rule, ${clauseOf(index)}, mutate: {patchStrategicMerge: {metadata: {labels: {other: "${index}"}}}}}
`,
  }));
}

function withEnv(review, length) {
  const env = Array.from({ length }, (_, index) => ({ name: `NAME_${index}`, value: `value ${index}` }));
  const [first, ...rest] = review.request.object.spec.containers;
  return withContainers(review, [{ ...first, env }, ...rest]);
}

/** The review with environment variables of the first container up to a size of its object. */
function withSize(review, bytes) {
  const missing = bytes - JSON.stringify(review.request.object).length;
  if (missing <= 0) return withContainers(review, review.request.object.spec.containers.slice(0, 1));
  return withEnv(review, Math.round(missing / 42));
}

function withContainers(review, containers) {
  const { object } = review.request;
  return {
    ...review,
    request: { ...review.request, object: { ...object, spec: { ...object.spec, containers } } },
  };
}
