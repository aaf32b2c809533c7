import os, requests

answer = requests.request(
    "{{.Method}}",
    "http://127.0.0.1:8000{{.Path}}",
    headers={"{{.Header}}": "{{.Prefix}}" + os.environ.get("PRESSWORK_API_KEY", "")},
{{- if .JSON}}
    json={{python .JSON}},
{{- end}}
{{- if .Form}}
    files=[
{{- range .Form}}
        ({{printf "%q" .Name}}, {{if .File}}open({{printf "%q" .File}}, "rb"){{else}}(None, {{printf "%q" .Value}}){{end}}),
{{- end}}
    ],
{{- end}}
{{- if .Stream}}
    stream=True,
{{- end}}
)
answer.raise_for_status()
{{- if .Save}}
open("{{.Save}}", "wb").write(answer.content)
{{- else if .Stream}}
for line in answer.iter_lines(decode_unicode=True):
    print(line)
{{- else}}
print(answer.text)
{{- end}}
