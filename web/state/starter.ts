import { emptyWorkspace, type Workspace } from '../engine/workspace.ts';

/** What a first visitor sees: two rules that write into one Pod, and one that does not apply. */
export const starterWorkspace: Workspace = {
  ...emptyWorkspace,
  policies: [
    {
      name: 'image-defaults.yaml',
      text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: image-defaults
spec:
  rules:
  - name: owner-label
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            # Added only if the label does not exist.
            +(team): unassigned
  - name: pull-latest-always
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        spec:
          containers:
          # For each container whose image matches.
          - (image): "*:latest"
            imagePullPolicy: Always
`,
    },
    {
      name: 'security.yaml',
      text: `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: security
spec:
  rules:
  - name: no-root
    match:
      any:
      - resources:
          kinds: [Pod]
    preconditions:
      all:
      - key: "{{ request.object.metadata.namespace }}"
        operator: NotEquals
        value: kube-system
    mutate:
      patchStrategicMerge:
        spec:
          securityContext:
            +(runAsNonRoot): true
  - name: no-host-network
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        spec:
          (hostNetwork): true
          dnsPolicy: ClusterFirstWithHostNet
`,
    },
  ],
  resources: [
    {
      name: 'pod.yaml',
      text: `apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  labels:
    app: web
spec:
  containers:
  - name: app
    image: example/shop:latest
    ports:
    - containerPort: 8080
  - name: proxy
    image: ghcr.io/example/proxy:1.4
`,
    },
  ],
};
