{{/*
What a component is given of the settings that it reads: name → { value } or { secret or configMap, key }, as JSON. What stands under
the component counts before what is given to all. Takes root, reader (a key of settings.json) and own (the component's values).
*/}}
{{- define "weir.given" -}}
{{- $given := dict }}
{{- range $level := list .root.Values .own }}
{{- /* An empty text takes a setting back. */}}
{{- range $name, $value := $level.settings }}
{{- if eq (toString $value) "" }}{{ $_ := unset $given $name }}{{ else }}{{ $_ := set $given $name (dict "value" $value) }}{{ end }}
{{- end }}
{{- range $name, $place := $level.secrets }}{{ $_ := set $given $name $place }}{{ end }}
{{- end }}
{{- $known := index (.root.Files.Get "settings.json" | fromJson) .reader }}
{{- range $name, $_ := $given }}{{ if not (has $name $known) }}{{ $_ := unset $given $name }}{{ end }}{{ end }}
{{- toJson $given }}
{{- end }}

{{/* A secret is handed over as a file wherever the service takes one: what is in the environment is inherited and shown too easily. */}}
{{- define "weir.env" -}}
{{- $known := index (.root.Files.Get "settings.json" | fromJson) .reader }}
{{- range $name, $place := include "weir.given" . | fromJson }}
{{- if hasKey $place "value" }}
- name: {{ $name }}
  {{- /* Helm keeps numbers as floating point, and would write 1.6777216e+07. */}}
  value: {{ if kindIs "float64" $place.value }}{{ $place.value | int64 | quote }}{{ else }}{{ $place.value | quote }}{{ end }}
{{- else if hasSuffix "_FILE" $name }}
- name: {{ $name }}
  value: /etc/weir/{{ $name }}
{{- else if has (printf "%s_FILE" $name) $known }}
- name: {{ $name }}_FILE
  value: /etc/weir/{{ $name }}
{{- else }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $place.secret }}
      key: {{ $place.key | quote }}
{{- end }}
{{- end }}
{{- with .root.Values.pod.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The files that the variables above name, as sources of a projected volume; empty where there are none. */}}
{{- define "weir.files" -}}
{{- $known := index (.root.Files.Get "settings.json" | fromJson) .reader }}
{{- range $name, $place := include "weir.given" . | fromJson }}
{{- if and (not (hasKey $place "value")) (or (hasSuffix "_FILE" $name) (has (printf "%s_FILE" $name) $known)) }}
- {{ if $place.configMap }}configMap{{ else }}secret{{ end }}:
    name: {{ $place.configMap | default $place.secret }}
    items:
      - { key: {{ $place.key | quote }}, path: {{ $name }} }
{{- end }}
{{- end }}
{{- end }}
