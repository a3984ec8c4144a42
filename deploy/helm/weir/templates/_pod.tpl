{{/*
A pod of Weir: what all of them share, within the restricted pod security level. Takes root, component, reader, own (its values) and
container: what is particular to its one container (args, env, ports, probes, lifecycle), as text in YAML.
*/}}
{{- define "weir.pod" -}}
{{- $values := .root.Values }}
{{- $files := include "weir.files" . }}
{{- $tls := and (eq .component "edge") $values.edge.tls.secret }}
metadata:
  labels:
    {{- include "weir.labels" . | nindent 4 }}
    {{- with $values.pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $values.pod.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "weir.name" .root }}{{ if eq .component "provision" }}-provision{{ end }}
  automountServiceAccountToken: false
  # A Service called edge would set EDGE_PORT, which is a setting of ours.
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.pod.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.pod.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.pod.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: "{{ $values.image.repository }}:{{ .own.imageTag | default $values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .own.resources | nindent 8 }}
      {{- .container | nindent 6 }}
        {{- include "weir.env" . | trim | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $files }}
        - { name: files, mountPath: /etc/weir, readOnly: true }
        {{- end }}
        {{- if $tls }}
        - { name: tls, mountPath: /etc/weir-tls, readOnly: true }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 1Gi }
    {{- if $files }}
    - name: files
      projected:
        defaultMode: 0440
        sources:
          {{- $files | trim | nindent 10 }}
    {{- end }}
    {{- if $tls }}
    - name: tls
      secret: { secretName: {{ $tls }}, defaultMode: 0440 }
    {{- end }}
{{- end }}
