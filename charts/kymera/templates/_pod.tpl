{{/* Settings of all Pods: (dict "root" $ "component" "admission" "priorityClassName" "") */}}
{{- define "kymera.podSettings" -}}
serviceAccountName: {{ include "kymera.name" . }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "kymera.containerSettings" -}}
image: {{ include "kymera.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Spreads replicas over nodes and zones. */}}
{{- define "kymera.spread" -}}
topologySpreadConstraints:
  {{- $selector := include "kymera.selectorLabels" . }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- $selector | nindent 8 }}
  {{- end }}
{{- end -}}

{{- define "kymera.podMetadata" -}}
labels:
  {{- include "kymera.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Command line flags of both controllers. */}}
{{- define "kymera.sharedArgs" -}}
- --namespace={{ .Release.Namespace }}
- --config-map={{ include "kymera.fullname" . }}
- {{ printf "--host=%s" .Values.listenAddress | quote }}
- --metrics-port={{ .Values.metrics.port }}
- --log-level={{ .Values.logLevel }}
{{- with .Values.policies.selector }}
- {{ printf "--policy-selector=%s" . | quote }}
{{- end }}
{{- range .Values.policies.exceptionNamespaces }}
- {{ printf "--exception-namespace=%s" . | quote }}
{{- end }}
{{- range .Values.policies.allowedHosts }}
- {{ printf "--allow-host=%s" . | quote }}
{{- end }}
{{- range .Values.policies.namespacedHosts }}
- {{ printf "--allow-host-namespaced=%s" . | quote }}
{{- end }}
- --policy-rule-limit={{ int .Values.policies.ruleLimit }}
- --policy-size-limit={{ int .Values.policies.sizeLimit }}
{{- end -}}
