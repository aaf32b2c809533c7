curl -sS{{if .Stream}}N{{end}} --fail-with-body{{if .Save}} -o {{.Save}}{{end}}
{{- if and (ne .Method "GET") (or (eq .Method "DELETE") (not (or .JSON .Form)))}} -X {{.Method}}{{end}} \
  -H "{{.Header}}: {{.Prefix}}$PRESSWORK_API_KEY" \
{{- if .JSON}}
  -H 'Content-Type: application/json' \
  -d {{json .JSON | shell}} \
{{- end}}
{{- range .Form}}
  -F {{if .File}}{{.Name}}=@{{.File}}{{else}}{{printf "%s=%s" .Name .Value | shell}}{{end}} \
{{- end}}
  'http://127.0.0.1:8000{{.Path}}'
