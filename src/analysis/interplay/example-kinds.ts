import type { JsonObject } from '../../json/value.ts';

const container: JsonObject = { name: 'app', image: 'registry.example/app:1.0' };
const podSpec: JsonObject = { containers: [container] };
const template: JsonObject = { metadata: { labels: { app: 'example' } }, spec: podSpec };
const selector: JsonObject = { matchLabels: { app: 'example' } };
const controller: JsonObject = { spec: { selector, template } };

/** Minimal content of objects of common kinds. */
const contents: Readonly<Record<string, JsonObject>> = {
  Pod: { spec: podSpec },
  Deployment: controller,
  StatefulSet: controller,
  DaemonSet: controller,
  ReplicaSet: controller,
  ReplicationController: { spec: { template } },
  Job: { spec: { template } },
  CronJob: { spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template } } } },
  Service: { spec: { selector: { app: 'example' }, ports: [{ port: 80 }] } },
  ConfigMap: { data: { key: 'value' } },
  Secret: { data: { key: 'dmFsdWU=' } },
  Ingress: { spec: { rules: [{ host: 'app.example' }] } },
};

export function bareObject(apiVersion: string, kind: string): JsonObject {
  return {
    apiVersion,
    kind,
    metadata: { name: 'example' },
    ...(Object.hasOwn(contents, kind) ? contents[kind] : {}),
  };
}
