{{- if .Socket}}
const socket = new WebSocket("ws://127.0.0.1:8000{{.Path}}?token=" + process.env.TOKEN); // ws_url has the token
socket.onmessage = ({ data }) => console.log(data);
{{- else}}
{{- $files := false}}{{range .Form}}{{if .File}}{{$files = true}}{{end}}{{end}}
{{- if .Save}}import { {{if $files}}readFile, {{end}}writeFile } from "node:fs/promises";

{{else if $files}}import { readFile } from "node:fs/promises";

{{end}}
{{- if .Form}}const form = new FormData();
{{range .Form -}}
{{if .File}}form.append("{{.Name}}", new Blob([await readFile("{{.File}}")]), "{{.File}}");{{else}}form.append("{{.Name}}", {{printf "%q" .Value}});{{end}}
{{end}}
{{- end}}
const answer = await fetch("http://127.0.0.1:8000{{.Path}}", {
  method: "{{.Method}}",
  headers: { {{if .JSON}}"Content-Type": "application/json", {{end}}
{{- if .Prefix}}{{.Header}}: "{{.Prefix}}" + (process.env.PRESSWORK_API_KEY ?? ""){{else}}"{{.Header}}": process.env.PRESSWORK_API_KEY ?? ""{{end}} },
{{- if .JSON}}
  body: JSON.stringify({{json .JSON}}),
{{- else if .Form}}
  body: form,
{{- end}}
});
if (!answer.ok) throw new Error(await answer.text());
{{- if .Save}}
await writeFile("{{.Save}}", Buffer.from(await answer.arrayBuffer()));
{{- else if .Stream}}
for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) process.stdout.write(piece);
{{- else}}
console.log(await answer.text());
{{- end}}
{{- end}}
