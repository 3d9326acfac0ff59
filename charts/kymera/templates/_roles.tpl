{{/* The names of the webhook configurations. */}}
{{- define "kymera.webhookNames" -}}
[kymera-resource-mutation, kymera-policy-validation, kymera-resource-triggers]
{{- end -}}

{{/* What both controllers watch: policies, and the objects that they depend on. */}}
{{- define "kymera.sharedRules" -}}
- apiGroups: [kyverno.io]
  resources: [clusterpolicies, policies, policyexceptions, globalcontextentries]
  verbs: [list, watch]
- apiGroups: [policies.kyverno.io]
  resources: [mutatingpolicies, namespacedmutatingpolicies, policyexceptions]
  verbs: [list, watch]
- apiGroups: [kymera.io]
  resources: [kymeraclusterpolicies, kymerapolicies]
  verbs: [list, watch]
- apiGroups: [policy.nirmata.io]
  resources: [policies]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
{{- /* Service calls of namespaced Policies: a Service of type ExternalName could point anywhere. */}}
- apiGroups: [""]
  resources: [services]
  verbs: [get]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [list, watch]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [rolebindings, clusterrolebindings]
  verbs: [list, watch]
{{- /* To check whether Kyverno is installed. */}}
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  verbs: [list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- if .Values.rbac.configMaps }}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch]
{{- end }}
{{- if .Values.rbac.secrets }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{/* In the release namespace. */}}
{{- define "kymera.sharedOwnRules" -}}
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [{{ include "kymera.fullname" . }}]
  verbs: [list, watch]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
{{- with .Values.rbac.registrySecrets }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: {{- toYaml . | nindent 4 }}
  verbs: [get]
{{- end }}
{{- end -}}

{{/* The aggregated ClusterRole, its binding, and the binding of the Role: (dict "root" $ "component" "admission" "account" "…") */}}
{{- define "kymera.bindings" -}}
{{- $name := include "kymera.name" . }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels: {{- include "kymera.labels" . | nindent 4 }}
aggregationRule:
  clusterRoleSelectors:
    - matchLabels: { rbac.kymera.io/aggregate-to-{{ .component }}-controller: "true" }
    {{- if .root.Values.rbac.kyvernoLabels }}
    - matchLabels: { rbac.kyverno.io/aggregate-to-{{ .component }}-controller: "true" }
    - matchLabels: { app.kubernetes.io/component: {{ .component }}-controller, app.kubernetes.io/part-of: kyverno }
    {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels: {{- include "kymera.labels" . | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ $name }} }
subjects:
  - { kind: ServiceAccount, name: {{ .account }}, namespace: {{ .root.Release.Namespace }} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "kymera.labels" . | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name }} }
subjects:
  - { kind: ServiceAccount, name: {{ .account }}, namespace: {{ .root.Release.Namespace }} }
{{- end -}}
