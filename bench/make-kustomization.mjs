// A kustomization of N Deployments, 50 patches by selector and 50 replacements, made in the folder given.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Quoted JSON inside YAML: every string, patch texts too, is written as JSON. */
const json = (value) => JSON.stringify(value);

export function writeKustomization(folder, count) {
  mkdirSync(folder, { recursive: true });
  const documents = [source(), ...Array.from({ length: count }, (_, index) => deployment(index))];
  writeFileSync(join(folder, 'all.yaml'), documents.join('---\n'));
  writeFileSync(join(folder, 'kustomization.yaml'), kustomization());
}

function source() {
  const data = Array.from({ length: 50 }, (_, index) => `  v${index}: value-${index}\n`).join('');
  return `apiVersion: v1\ndata:\n${data}kind: ConfigMap\nmetadata:\n  name: source\n`;
}

function deployment(index) {
  const app = `a${index % 50}`;
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    slot: x
  labels:
    app: ${app}
    tier: t${index % 5}
  name: d${String(index).padStart(5, '0')}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: ${app}
  template:
    metadata:
      labels:
        app: ${app}
    spec:
      containers:
      - env:
        - name: A
          value: '1'
        - name: SLOT
          value: x
        image: reg.example.com/app${index % 50}:1.0
        name: main
        ports:
        - containerPort: 8080
      - image: busybox:1.36
        name: side
`;
}

function kustomization() {
  const indexes = Array.from({ length: 25 }, (_, index) => index);
  const patches = indexes.flatMap((index) => [
    { target: { kind: 'Deployment', labelSelector: `app=a${index}` }, patch: json(mergePatch(index)) },
    {
      target: { kind: 'Deployment', name: `d\\d+${index % 10}`, labelSelector: `app=a${index + 25}` },
      patch: json([{ op: 'replace', path: '/spec/replicas', value: index }]),
    },
  ]);
  const replacements = Array.from({ length: 50 }, (_, index) => ({
    source: { kind: 'ConfigMap', name: 'source', fieldPath: `data.v${index}` },
    targets: [
      {
        select: { kind: 'Deployment', labelSelector: `app=a${index}` },
        fieldPaths: [
          'metadata.annotations.slot',
          'spec.template.spec.containers.[name=main].env.[name=SLOT].value',
        ],
      },
    ],
  }));
  return json({ resources: ['all.yaml'], namePrefix: 'p-', patches, replacements });
}

function mergePatch(index) {
  const containers = [
    { name: 'main', securityContext: { runAsNonRoot: true } },
    { name: `x${index}`, image: 'x:1' },
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'any' },
    spec: { template: { spec: { containers } } },
  };
}
