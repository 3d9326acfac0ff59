{{- define "kymera.fullname" -}}
{{- if contains "kymera" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-kymera" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "component" "admission") */}}
{{- define "kymera.name" -}}
{{- printf "%s-%s" (include "kymera.fullname" .root) .component -}}
{{- end -}}

{{- define "kymera.selectorLabels" -}}
app.kubernetes.io/name: kymera
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "kymera.labels" -}}
{{ include "kymera.selectorLabels" . }}
app.kubernetes.io/part-of: kymera
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "kymera.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The service account that changes existing objects. */}}
{{- define "kymera.backgroundAccount" -}}
{{- $component := eq .Values.background.mode "admission" | ternary "admission" "background" -}}
{{- include "kymera.name" (dict "root" . "component" $component) -}}
{{- end -}}

{{/* The Secret with a certificate that Kymera does not manage, if any. */}}
{{- define "kymera.tlsSecret" -}}
{{- if .Values.tls.certManager.enabled -}}
{{ include "kymera.fullname" . }}-tls
{{- else -}}
{{ .Values.tls.secretName }}
{{- end -}}
{{- end -}}
