{{- /* The objects are named as the release. */ -}}
{{- define "plumb.selector" -}}
app.kubernetes.io/name: plumb
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "plumb.labels" -}}
app.kubernetes.io/name: plumb
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
