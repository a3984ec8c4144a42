{{- define "weir.name" -}}
{{- if contains "weir" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-weir" (.Release.Name | trunc 35 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{/* What finds the pods of one component: root, component. It never changes, since a Deployment's selector cannot. */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The operator's command in a pod of this component, as one can paste it: root, component. */}}
{{- define "weir.command" -}}
kubectl exec -n {{ .root.Release.Namespace }} deploy/{{ include "weir.name" .root }}-{{ .component }} -- node dist/services/operator/main.js
{{- end }}
