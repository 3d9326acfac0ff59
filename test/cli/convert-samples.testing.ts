/** Old policies that have an exact equivalent in kyverno.io/v1, by what is old about them. */
export const oldPolicies: Readonly<Record<string, string>> = {
  'flat match and exclude': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  background: false
  rules:
  - name: r
    match:
      resources: {kinds: [Pod, Deployment], name: "web*"}
      subjects: [{kind: User, name: jane}]
    exclude:
      resources: {namespaces: [prod]}
      clusterRoles: [cluster-admin]
    mutate:
      patchStrategicMerge: {metadata: {labels: {a: b}}}
`,
  'name in blocks': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod], name: web}}, {resources: {kinds: [Deployment], names: [api]}}]}
    exclude: {all: [{resources: {kinds: [Pod], name: "w*"}}, {resources: {namespaces: [prod]}}]}
    mutate:
      patchStrategicMerge: {metadata: {labels: {a: b}}}
`,
  'a flat match for Pods, with autogen': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {resources: {kinds: [Pod]}}
    mutate:
      patchStrategicMerge: {spec: {containers: [{(image): "*:latest", imagePullPolicy: Always}]}}
`,
  'a list of preconditions, old operators': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod, Deployment]}}]}
    preconditions:
    - {key: "{{ request.operation }}", operator: In, value: [CREATE]}
    - {key: "{{ request.object.metadata.namespace || '' }}", operator: NotIn, value: [prod]}
    - {key: "{{ request.object.metadata.name }}", operator: NotEqual, value: api}
    mutate:
      patchStrategicMerge: {metadata: {labels: {a: b}}}
`,
  'old operators in loops': `
apiVersion: kyverno.io/v2beta1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      foreach:
      - list: request.object.spec.containers
        preconditions: {all: [{key: "{{ element.image }}", operator: Equal, value: "*:latest"}]}
        patchStrategicMerge: {spec: {containers: [{name: "{{ element.name }}", imagePullPolicy: Always}]}}
`,
  'fields of the webhook': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  failurePolicy: Ignore
  webhookTimeoutSeconds: 7
  schemaValidation: false
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.metadata.nothing }}"}}}
`,
  'targets patched when the policy changes': `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  mutateExistingOnPolicyUpdate: true
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      targets: [{apiVersion: v1, kind: ConfigMap, name: a, namespace: b}]
      patchStrategicMerge: {metadata: {labels: {a: b}}}
`,
  'v1alpha1: patches': `
apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - name: one
    resource: {kind: Pod, name: "w*", selector: {matchLabels: {app: web}}}
    mutate:
      patches:
      - {path: /metadata/labels/new, op: add, value: "yes"}
      - {path: /metadata/labels/count, op: add, value: "7"}
      - {path: /metadata/labels/gone, op: remove}
      - {path: /spec/nothing/here, op: remove}
      - {path: /metadata/annotations/from/, op: add, value: "v-{{ request.object.metadata.name }}"}
      - {path: /spec/containers/0/, op: add, value: [{name: s1, image: s}, {name: s2, image: s}]}
      - {path: /spec/containers/-/, op: add, value: [{name: s3, image: s}]}
  - resource: {kinds: [Deployment, ConfigMap], namespace: prod}
    mutate:
      patches: [{path: /metadata/labels/x, op: replace, value: "y"}]
`,
  'v1alpha1: overlay': `
apiVersion: policy.nirmata.io/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  rules:
  - name: one
    resource: {kind: Pod}
    mutate:
      overlay:
        metadata:
          labels: {team: "{{ request.object.metadata.namespace || 'none' }}"}
        spec:
          hostPID: false
          securityContext: {runAsUser: null}
          dnsConfig: {}
          containers:
          - (image): "*:latest"
            imagePullPolicy: Always
            securityContext: {privileged: false}
          initContainers:
          - env:
            - (name): LOG
              value: info
  - name: two
    resource: {kind: Pod}
    mutate:
      overlay:
        spec:
          (restartPolicy): Never
          hostNetwork: false
        metadata: {labels: {once: "true"}}
`,
  'v1alpha1: a namespaced policy': `
apiVersion: kyverno.io/v1alpha1
kind: Policy
metadata: {name: p, namespace: prod}
spec:
  rules:
  - name: r
    resource: {kind: Pod}
    mutate:
      overlay: {metadata: {labels: {a: b}}}
`,
};

/** Policies with a part that has no exact equivalent, and where that part is. */
export const stubbornPolicies: Readonly<Record<string, { readonly text: string; readonly pointer: string }>> =
  {
    'an overlay that adds to a list': alpha(
      'overlay: {spec: {tolerations: [{key: a}]}}',
      'overlay/spec/tolerations',
    ),
    'an overlay into every item': alpha(
      'overlay: {subsets: [{addresses: [{ip: 1.1.1.1}]}]}',
      'overlay/subsets',
    ),
    'anchored items beside others': alpha(
      'overlay: {spec: {containers: [{(name): a, tty: true}, {name: b}]}}',
      'overlay/spec/containers',
    ),
    'an item that is renamed': alpha(
      'overlay: {spec: {containers: [{(image): "a*", name: b}]}}',
      'overlay/spec/containers/0',
    ),
    'an anchor with an operator': alpha(
      'overlay: {spec: {(replicas): ">2", paused: true}}',
      'overlay/spec/(replicas)',
    ),
    'a variable of any type': alpha('overlay: {spec: {a: "{{ request.object.spec.b }}"}}', 'overlay/spec/a'),
    'a path with a variable': alpha(
      'patches: [{op: add, path: "/metadata/labels/{{ request.operation }}", value: a}]',
      'patches/0/path',
    ),
    'a patch value of any type': alpha(
      'patches: [{op: add, path: /spec/a, value: "{{ request.object.spec.b }}"}]',
      'patches/0/value',
    ),
    'removing the item after the last': alpha('patches: [{op: remove, path: /spec/a/-}]', 'patches/0/path'),
  };

function alpha(mutate: string, place: string): { text: string; pointer: string } {
  const text = `apiVersion: kyverno.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  rules:\n  - resource: {kind: Pod}\n    mutate:\n      ${mutate}\n`;
  return { text, pointer: `/spec/rules/0/mutate/${place}` };
}
