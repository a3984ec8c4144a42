{{/* What no installation can work with, each with the value to change. What a value may be by itself is in values.schema.json. */}}
{{- define "weir.refusals" -}}
{{- range $component, $partitions := dict "integrity" "SUBMITTED_PARTITIONS" "sink" "ACCEPTED_PARTITIONS" }}
{{- $own := index $.Values $component }}
{{- $most := index $.Values.settings $partitions | int }}
{{- if $own.autoscaling.enabled }}
{{- if gt ($own.autoscaling.max | int) $most }}
{{- fail (printf "%s.autoscaling.max is %d, and settings.%s is %d: instances beyond the partitions would have nothing to do. Lower the first; partitions are chosen at the first installation (docs/kubernetes.md)" $component ($own.autoscaling.max | int) $partitions $most) }}
{{- end }}
{{- if gt ($own.autoscaling.min | int) ($own.autoscaling.max | int) }}
{{- fail (printf "%s.autoscaling.min is above %s.autoscaling.max" $component $component) }}
{{- end }}
{{- else if gt ($own.replicas | int) $most }}
{{- fail (printf "%s.replicas is %d, and settings.%s is %d: instances beyond the partitions would have nothing to do. Lower the first; partitions are chosen at the first installation (docs/kubernetes.md)" $component ($own.replicas | int) $partitions $most) }}
{{- end }}
{{- end }}
{{- $edge := .Values.edge }}
{{- if gt ($edge.autoscaling.min | int) ($edge.autoscaling.max | int) }}
{{- fail "edge.autoscaling.min is above edge.autoscaling.max" }}
{{- end }}
{{- $given := include "weir.given" (dict "root" . "reader" "edge" "own" $edge) | fromJson }}
{{- if not (or $edge.tls.secret $given.TRUST_PROXY $given.PLAIN_HTTP_FROM) }}
{{- fail "API keys would cross the network in the clear: set edge.tls.secret to a Secret with a certificate, or edge.settings.TRUST_PROXY to the addresses of the proxy (ingress controller, mesh) that speaks TLS, such as 10.244.0.0/16" }}
{{- end }}
{{- if $edge.ingress.enabled }}
{{- if not $given.TRUST_PROXY }}
{{- fail "edge.ingress.enabled needs edge.settings.TRUST_PROXY: the addresses of the ingress controller's pods, such as 10.244.0.0/16, whose word on how a request came the edge is to take" }}
{{- end }}
{{- if not $edge.ingress.host }}
{{- fail "edge.ingress.enabled needs edge.ingress.host" }}
{{- end }}
{{- end }}
{{- end }}
