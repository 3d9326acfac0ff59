import type { FieldSpec } from '../kustomization/kustomization.ts';
import type { FieldSpecs, NameBackReference } from './field-specs.ts';

// The default field specs of kustomize, gaps included: for example, ReplicationController is not among the kinds that refer
// to ConfigMaps.

const template = 'spec/template';
const jobTemplate = 'spec/jobTemplate/spec/template';

const spec = (path: string, kind?: string, group?: string, version?: string): FieldSpec => ({
  path,
  kind,
  group,
  version,
});
const created = (fieldSpec: FieldSpec): FieldSpec => ({ ...fieldSpec, create: true });

/** Metadata fields of objects and their Pod templates. */
function templateFields(field: 'labels' | 'annotations', statefulSetGroup?: string): FieldSpec[] {
  return [
    spec(`metadata/${field}`),
    spec(`${template}/metadata/${field}`, 'ReplicationController', undefined, 'v1'),
    spec(`${template}/metadata/${field}`, 'Deployment'),
    spec(`${template}/metadata/${field}`, 'ReplicaSet'),
    spec(`${template}/metadata/${field}`, 'DaemonSet'),
    spec(`${template}/metadata/${field}`, 'StatefulSet', statefulSetGroup),
    spec(`${template}/metadata/${field}`, 'Job', 'batch'),
    spec(`spec/jobTemplate/metadata/${field}`, 'CronJob', 'batch'),
    spec(`${jobTemplate}/metadata/${field}`, 'CronJob', 'batch'),
  ].map(created);
}

const templateLabels: readonly FieldSpec[] = [
  ...templateFields('labels', 'apps'),
  created(spec('spec/volumeClaimTemplates[]/metadata/labels', 'StatefulSet', 'apps')),
];

function affinitySelectors(kind: string): FieldSpec[] {
  const terms = [
    'preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm',
    'requiredDuringSchedulingIgnoredDuringExecution',
  ];
  const paths = ['podAffinity', 'podAntiAffinity'].flatMap((affinity) =>
    terms.map((term) => `affinity/${affinity}/${term}`),
  );
  return [...paths, 'topologySpreadConstraints'].map((path) =>
    spec(`${template}/spec/${path}/labelSelector/matchLabels`, kind, 'apps'),
  );
}

const commonLabels: readonly FieldSpec[] = [
  created(spec('spec/selector', 'Service', undefined, 'v1')),
  created(spec('spec/selector', 'ReplicationController', undefined, 'v1')),
  created(spec('spec/selector/matchLabels', 'Deployment')),
  ...affinitySelectors('Deployment'),
  created(spec('spec/selector/matchLabels', 'ReplicaSet')),
  created(spec('spec/selector/matchLabels', 'DaemonSet')),
  created(spec('spec/selector/matchLabels', 'StatefulSet', 'apps')),
  ...affinitySelectors('StatefulSet'),
  spec('spec/selector/matchLabels', 'Job', 'batch'),
  spec('spec/jobTemplate/spec/selector/matchLabels', 'CronJob', 'batch'),
  spec('spec/selector/matchLabels', 'PodDisruptionBudget', 'policy'),
  spec('spec/podSelector/matchLabels', 'NetworkPolicy', 'networking.k8s.io'),
  spec('spec/ingress/from/podSelector/matchLabels', 'NetworkPolicy', 'networking.k8s.io'),
  spec('spec/egress/to/podSelector/matchLabels', 'NetworkPolicy', 'networking.k8s.io'),
  ...templateLabels,
];

interface PodHolder {
  readonly kind: string;
  /** Path of the Pod spec. */
  readonly path: string;
  readonly version?: string | undefined;
}

const templateHolders = (kinds: readonly string[]): PodHolder[] =>
  kinds.map((kind) => ({ kind, path: `${template}/spec` }));
const cronJob: PodHolder = { kind: 'CronJob', path: `${jobTemplate}/spec` };

const dataHolders: readonly PodHolder[] = [
  { kind: 'Pod', path: 'spec', version: 'v1' },
  { kind: 'PodTemplate', path: 'template/spec' },
  ...templateHolders(['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job']),
  cronJob,
];
const nameHolders: readonly PodHolder[] = [
  { kind: 'Pod', path: 'spec' },
  ...templateHolders(['StatefulSet', 'Deployment', 'ReplicationController', 'Job', 'DaemonSet']),
  cronJob,
];

const inPods = (holders: readonly PodHolder[], fields: readonly string[]): FieldSpec[] =>
  holders.flatMap(({ kind, path, version }) =>
    fields.map((field) => spec(`${path}/${field}`, kind, undefined, version)),
  );

const containerFields = (fields: readonly string[]): string[] =>
  ['containers', 'initContainers'].flatMap((containers) => fields.map((field) => `${containers}/${field}`));

const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';
const resourceNames = ['Role', 'ClusterRole'].map((kind) => spec('rules/resourceNames', kind));

const scaleTargets: readonly NameBackReference[] = [
  'Deployment',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
].map((kind) => ({ kind, fieldSpecs: [spec('spec/scaleTargetRef/name', 'HorizontalPodAutoscaler')] }));

const nameReference: readonly NameBackReference[] = [
  ...scaleTargets,
  {
    kind: 'ConfigMap',
    version: 'v1',
    fieldSpecs: [
      ...inPods(dataHolders, [
        'volumes/configMap/name',
        ...containerFields(['env/valueFrom/configMapKeyRef/name', 'envFrom/configMapRef/name']),
        'volumes/projected/sources/configMap/name',
      ]),
      spec('spec/configSource/configMap', 'Node'),
      ...resourceNames,
      spec('metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap', 'Ingress'),
    ],
  },
  {
    kind: 'Secret',
    version: 'v1',
    fieldSpecs: [
      ...inPods(dataHolders, [
        'volumes/secret/secretName',
        ...containerFields(['env/valueFrom/secretKeyRef/name', 'envFrom/secretRef/name']),
        'imagePullSecrets/name',
        'volumes/projected/sources/secret/name',
      ]),
      spec('spec/tls/secretName', 'Ingress'),
      spec('metadata/annotations/ingress.kubernetes.io\\/auth-secret', 'Ingress'),
      spec('metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret', 'Ingress'),
      spec('metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret', 'Ingress'),
      spec('imagePullSecrets/name', 'ServiceAccount'),
      ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) =>
        spec(`parameters/${name}`, 'StorageClass'),
      ),
      ...resourceNames,
      spec(
        `${template}/spec/containers/env/valueFrom/secretKeyRef/name`,
        'Service',
        'serving.knative.dev',
        'v1',
      ),
      spec('spec/azureFile/secretName', 'PersistentVolume'),
    ],
  },
  {
    kind: 'Service',
    version: 'v1',
    fieldSpecs: [
      spec('spec/serviceName', 'StatefulSet', 'apps'),
      spec('spec/rules/http/paths/backend/serviceName', 'Ingress'),
      spec('spec/backend/serviceName', 'Ingress'),
      spec('spec/rules/http/paths/backend/service/name', 'Ingress'),
      spec('spec/defaultBackend/service/name', 'Ingress'),
      spec('spec/service/name', 'APIService', 'apiregistration.k8s.io'),
      spec('webhooks/clientConfig/service', 'ValidatingWebhookConfiguration', admission),
      spec('webhooks/clientConfig/service', 'MutatingWebhookConfiguration', admission),
    ],
  },
  { kind: 'Role', group: rbac, fieldSpecs: [spec('roleRef/name', 'RoleBinding', rbac)] },
  {
    kind: 'ClusterRole',
    group: rbac,
    fieldSpecs: [spec('roleRef/name', 'RoleBinding', rbac), spec('roleRef/name', 'ClusterRoleBinding', rbac)],
  },
  {
    kind: 'ServiceAccount',
    version: 'v1',
    fieldSpecs: [
      spec('subjects', 'RoleBinding', rbac),
      spec('subjects', 'ClusterRoleBinding', rbac),
      ...inPods(nameHolders, ['serviceAccountName']),
    ],
  },
  {
    kind: 'PersistentVolumeClaim',
    version: 'v1',
    fieldSpecs: inPods(nameHolders, ['volumes/persistentVolumeClaim/claimName']),
  },
  {
    kind: 'PersistentVolume',
    version: 'v1',
    fieldSpecs: [
      spec('spec/volumeName', 'PersistentVolumeClaim'),
      spec('rules/resourceNames', 'ClusterRole'),
    ],
  },
  {
    kind: 'StorageClass',
    version: 'v1',
    group: 'storage.k8s.io',
    fieldSpecs: [
      spec('spec/storageClassName', 'PersistentVolume'),
      spec('spec/storageClassName', 'PersistentVolumeClaim'),
      spec('spec/volumeClaimTemplates/spec/storageClassName', 'StatefulSet'),
    ],
  },
  {
    kind: 'PriorityClass',
    version: 'v1',
    group: 'scheduling.k8s.io',
    fieldSpecs: inPods(nameHolders, ['priorityClassName']),
  },
  {
    kind: 'ValidatingAdmissionPolicy',
    group: admission,
    fieldSpecs: [spec('spec/policyName', 'ValidatingAdmissionPolicyBinding', admission)],
  },
];

const varHolders: readonly PodHolder[] = [
  cronJob,
  ...templateHolders(['DaemonSet', 'Deployment', 'Job', 'ReplicaSet', 'StatefulSet']),
  { kind: 'Pod', path: 'spec' },
];

const varReference: readonly FieldSpec[] = [
  ...inPods(varHolders, containerFields(['args', 'command', 'env/value', 'volumeMounts/mountPath'])),
  ...inPods(
    varHolders.filter(({ kind }) => kind !== 'CronJob' && kind !== 'StatefulSet'),
    ['volumes/nfs/server'],
  ),
  spec(`${jobTemplate}/volumes/nfs/server`, 'CronJob'),
  spec('spec/volumeClaimTemplates/spec/nfs/server', 'StatefulSet'),
  spec(`${template}/metadata/annotations`, 'Deployment'),
  spec('spec/rules/host', 'Ingress'),
  spec('spec/tls/hosts', 'Ingress'),
  spec('spec/tls/secretName', 'Ingress'),
  spec('spec/ports/port', 'Service'),
  spec('spec/ports/targetPort', 'Service'),
  spec('spec/nfs/server', 'PersistentVolume'),
  spec('metadata/labels'),
  spec('metadata/annotations'),
];

export const defaultFieldSpecs: FieldSpecs = {
  namePrefix: [spec('metadata/name')],
  nameSuffix: [spec('metadata/name')],
  namespace: [
    created(spec('metadata/name', 'Namespace')),
    created(spec('spec/service/namespace', 'APIService', 'apiregistration.k8s.io')),
    spec(
      'spec/conversion/webhook/clientConfig/service/namespace',
      'CustomResourceDefinition',
      'apiextensions.k8s.io',
    ),
  ],
  commonLabels,
  templateLabels,
  labels: [],
  commonAnnotations: templateFields('annotations'),
  nameReference,
  varReference,
  images: ['spec', `${template}/spec`].flatMap((path) =>
    ['containers[]/image', 'initContainers[]/image', 'volumes[]/image/reference'].map((field) =>
      created(spec(`${path}/${field}`)),
    ),
  ),
  replicas: ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) =>
    created(spec('spec/replicas', kind)),
  ),
};
