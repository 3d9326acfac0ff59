// What a review costs inside one process, as the server runs it, by feature.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/setup.mjs';
import { measurePair, medianTime } from './measure.mjs';
import { assertAnswer, readPolicies } from './review.mjs';

const part = 'Engine';
const data = join(root, 'bench', 'data');

export async function benchEngine({ createBenchPolicies }, { figure }) {
  const files = readPolicies(join(data, 'policies'));
  const text = readFileSync(join(data, 'review.json'), 'utf8');
  const review = JSON.parse(text);
  const { reviewer, load } = createBenchPolicies(files);
  const { loadAll } = await import('js-yaml');
  const parsing = medianTime(51, () => files.map((file) => loadAll(file.text)));
  const loading = medianTime(51, () => load(files));
  figure(part, `load ${files.length} policies`, loading, 'ms', {
    ratio: loading / parsing,
    to: 'reading their YAML by js-yaml',
  });

  const answer = () => reviewer(review);
  await assertAnswer(answer);
  const roundTrip = () => JSON.stringify(JSON.parse(text));
  const parsed = await measurePair(answer, roundTrip);
  const to = 'reading and writing the JSON';
  figure(part, 'one review by ten policies, object in, JSON out', parsed.cost, 'µs', {
    ratio: parsed.ratio,
    to,
    bar: { value: 80 },
  });
  const fromText = await measurePair(() => reviewer(JSON.parse(text)), roundTrip);
  figure(part, 'one review by ten policies, JSON in, JSON out', fromText.cost, 'µs', {
    ratio: fromText.ratio,
    to,
  });
  const cel = createBenchPolicies(readPolicies(join(data, 'policies-cel')));
  await assertAnswer(() => cel.reviewer(review));
  const byCel = await measurePair(() => cel.reviewer(review), answer);
  figure(part, 'one review by ten equivalent MutatingPolicies', byCel.cost, 'µs', {
    ratio: byCel.ratio,
    to: 'the ten ClusterPolicies',
    bar: { ratio: 1.3 },
  });
  await benchFeatures(createBenchPolicies, review, figure);
}

async function benchFeatures(createBenchPolicies, review, figure) {
  const features = readPolicies(join(data, 'features'));
  const idle = createBenchPolicies([
    { ...features[0], text: features[0].text.replace('kinds: [Pod]', 'kinds: [Service]') },
  ]);
  for (const feature of features) {
    const { reviewer } = createBenchPolicies([feature]);
    await assertAnswer(() => reviewer(review));
    const { cost, ratio } = await measurePair(
      () => reviewer(review),
      () => idle.reviewer(review),
    );
    const name = feature.file.replace('.yaml', '').replace('-', ' ');
    figure('Engine by feature', name, cost, 'µs', {
      ratio,
      to: 'a review that no policy matches',
      plot: 'feature',
      series: 'one policy',
      x: name,
    });
  }
}
