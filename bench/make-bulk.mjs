// Writes objects as one YAML stream: Deployments and Pods in turn, three containers each.
import { writeFileSync } from 'node:fs';
import { dump } from 'js-yaml';

export function writeBulk(file, count) {
  const documents = Array.from(
    { length: count },
    (_, index) => `---\n${dump(bulkObject(index), { noRefs: true })}`,
  );
  writeFileSync(file, documents.join(''));
}

function bulkObject(index) {
  const app = `a${index % 50}`;
  const metadata = {
    name: `r${String(index).padStart(5, '0')}`,
    namespace: 'default',
    labels: { app },
    annotations: { a: 'b' },
  };
  if (index % 2 === 1) return { apiVersion: 'v1', kind: 'Pod', metadata, spec: podSpec() };
  const template = { metadata: { labels: { app }, annotations: { a: 'b' } }, spec: podSpec() };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas: 1, selector: { matchLabels: { app } }, template },
  };
}

function podSpec() {
  const images = ['nginx:latest', 'docker.io/library/redis:7.2', 'busybox:latest'];
  return { containers: images.map(container), volumes: [{ name: 'tmp', emptyDir: {} }] };
}

function container(image, index) {
  return {
    name: `c${index}`,
    image,
    env: [{ name: 'A', value: '1' }],
    ports: [{ containerPort: 8080 + index }],
    resources: { limits: { memory: '256Mi' } },
  };
}
