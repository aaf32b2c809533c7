// Requests of the studio as programs in four languages.

/** Sample is a request to show in four languages. */
export interface Sample {
  path: string;
  /** The body is json, or else the file with this name and type, or else a form of fields and files. */
  json?: unknown;
  file?: string;
  type?: string;
  fields?: Record<string, string>;
  files?: { field: string; name: string }[];
  /** accept is the wanted media type, and output the file for the response. */
  accept?: string;
  output?: string;
  stream?: boolean;
}

/** Language is a language of programs, or curl. */
export type Language = "curl" | "Python" | "JavaScript" | "Go";

/** languages are the choices, in the order of the buttons. */
export const languages: Language[] = ["curl", "Python", "JavaScript", "Go"];

/** write returns a program that sends a request. With keyed, it reads the key of the server from PRESSWORK_KEY. */
export function write(lang: Language, s: Sample, keyed: boolean, origin: string): string {
  return { curl, Python: python, JavaScript: javascript, Go: golang }[lang](s, keyed, origin) + "\n";
}

const shell = (v: string) => `'${v.replaceAll("'", `'\\''`)}'`;
const pretty = (v: unknown) => JSON.stringify(v, null, 2);

/** headersOf returns the headers of a request, without its key. */
function headersOf(s: Sample): [string, string][] {
  const out: [string, string][] = [];
  if (s.json !== undefined) out.push(["Content-Type", "application/json"]);
  else if (s.file) out.push(["Content-Type", s.type ?? "application/octet-stream"]);
  if (s.accept) out.push(["Accept", s.accept]);
  return out;
}

function curl(s: Sample, keyed: boolean, origin: string): string {
  const lines = [`curl ${s.stream ? "-N" : "-sS"} --fail-with-body ${shell(origin + s.path)}`];
  for (const [name, value] of headersOf(s)) lines.push(`-H ${shell(`${name}: ${value}`)}`);
  if (keyed) lines.push(`-H "X-API-Key: $PRESSWORK_KEY"`);
  if (s.json !== undefined) lines.push(`-d ${shell(pretty(s.json))}`);
  else if (s.file) lines.push(`--data-binary ${shell("@" + s.file)}`);
  for (const [name, value] of Object.entries(s.fields ?? {})) lines.push(`--form-string ${shell(`${name}=${value}`)}`);
  for (const f of s.files ?? []) lines.push(`-F ${shell(`${f.field}=@${f.name}`)}`);
  if (s.output) lines.push(`-o ${shell(s.output)}`);
  return lines.join(" \\\n  ");
}

/** literal writes a JSON value as Python. */
function literal(v: unknown, indent = ""): string {
  if (v === null || v === undefined) return "None";
  if (typeof v === "boolean") return v ? "True" : "False";
  if (typeof v !== "object") return JSON.stringify(v);
  const deeper = indent + "    ";
  if (Array.isArray(v))
    return v.length ? `[\n${v.map((x) => deeper + literal(x, deeper)).join(",\n")},\n${indent}]` : "[]";
  const rows = Object.entries(v).map(([k, x]) => `${deeper}${JSON.stringify(k)}: ${literal(x, deeper)}`);
  return rows.length ? `{\n${rows.join(",\n")},\n${indent}}` : "{}";
}

function python(s: Sample, keyed: boolean, origin: string): string {
  const headers: string[] = headersOf(s)
    .filter(([name]) => name !== "Content-Type" || s.file)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (keyed) headers.push(`"X-API-Key": os.environ["PRESSWORK_KEY"]`);
  const args = [JSON.stringify(origin + s.path)];
  if (headers.length) args.push(`headers={${headers.join(", ")}}`);
  if (s.json !== undefined) args.push(`json=${literal(s.json, "    ")}`);
  else if (s.file) args.push(`data=open(${JSON.stringify(s.file)}, "rb")`);
  if (s.fields) args.push(`data=${literal(s.fields, "    ")}`);
  if (s.files?.length)
    args.push(
      `files=[${s.files.map((f) => `(${JSON.stringify(f.field)}, open(${JSON.stringify(f.name)}, "rb"))`).join(", ")}]`,
    );
  if (s.stream) args.push("stream=True");
  const lines = [
    ...(keyed ? ["import os"] : []),
    "import requests",
    "",
    `response = requests.post(\n    ${args.join(",\n    ")},\n)`,
    "response.raise_for_status()",
  ];
  if (s.output) lines.push(`open(${JSON.stringify(s.output)}, "wb").write(response.content)`);
  else if (s.stream) lines.push(`for line in response.iter_lines(decode_unicode=True):\n    print(line)`);
  else lines.push("print(response.json())");
  return lines.join("\n");
}

function javascript(s: Sample, keyed: boolean, origin: string): string {
  const lines: string[] = [];
  const fs = [s.file || s.files?.length ? "readFile" : "", s.output ? "writeFile" : ""].filter(Boolean);
  if (fs.length) lines.push(`import { ${fs.join(", ")} } from "node:fs/promises";`, "");
  if (s.fields || s.files) {
    lines.push("const form = new FormData();");
    for (const [name, value] of Object.entries(s.fields ?? {}))
      lines.push(`form.set(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    for (const f of s.files ?? [])
      lines.push(
        `form.append(${JSON.stringify(f.field)}, new Blob([await readFile(${JSON.stringify(f.name)})]), ${JSON.stringify(f.name)});`,
      );
  }
  const headers = headersOf(s).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (keyed) headers.push(`"X-API-Key": process.env.PRESSWORK_KEY`);
  lines.push(`const response = await fetch(${JSON.stringify(origin + s.path)}, {`, `  method: "POST",`);
  if (headers.length) lines.push(`  headers: { ${headers.join(", ")} },`);
  if (s.json !== undefined) lines.push(`  body: JSON.stringify(${pretty(s.json).replaceAll("\n", "\n  ")}),`);
  else if (s.file) lines.push(`  body: await readFile(${JSON.stringify(s.file)}),`);
  else lines.push("  body: form,");
  lines.push("});", "if (!response.ok) throw new Error(await response.text());");
  if (s.output) lines.push(`await writeFile(${JSON.stringify(s.output)}, Buffer.from(await response.arrayBuffer()));`);
  else if (s.stream)
    lines.push(
      "for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);",
    );
  else lines.push("console.log(await response.json());");
  return lines.join("\n");
}

function golang(s: Sample, keyed: boolean, origin: string): string {
  const imports = new Set(["io", "log", "net/http", "os"]);
  const body: string[] = [];
  let reader = "";
  let type = "";
  if (s.json !== undefined) {
    imports.add("strings");
    const text = pretty(s.json);
    reader = `strings.NewReader(${text.includes("`") ? JSON.stringify(text) : "`" + text + "`"})`;
  } else if (s.file) {
    body.push(`file, err := os.Open(${JSON.stringify(s.file)})`, ...check, "defer file.Close()");
    reader = "file";
  } else {
    imports.add("bytes").add("mime/multipart");
    body.push("var form bytes.Buffer", "w := multipart.NewWriter(&form)");
    for (const [name, value] of Object.entries(s.fields ?? {}))
      body.push(`w.WriteField(${JSON.stringify(name)}, ${JSON.stringify(value)})`);
    if (s.files?.length) {
      body.push(
        `for _, f := range [][2]string{${s.files.map((f) => `{${JSON.stringify(f.field)}, ${JSON.stringify(f.name)}}`).join(", ")}} {`,
      );
      body.push(
        "\tdata, err := os.ReadFile(f[1])",
        ...check.map((l) => "\t" + l),
        "\tpart, err := w.CreateFormFile(f[0], f[1])",
        ...check.map((l) => "\t" + l),
        "\tpart.Write(data)",
        "}",
      );
    }
    body.push("w.Close()");
    reader = "&form";
    type = "w.FormDataContentType()";
  }
  body.push(`req, err := http.NewRequest("POST", ${JSON.stringify(origin + s.path)}, ${reader})`, ...check);
  if (type) body.push(`req.Header.Set("Content-Type", ${type})`);
  for (const [name, value] of headersOf(s))
    body.push(`req.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`);
  if (keyed) body.push(`req.Header.Set("X-API-Key", os.Getenv("PRESSWORK_KEY"))`);
  body.push("res, err := http.DefaultClient.Do(req)", ...check, "defer res.Body.Close()");
  body.push("if res.StatusCode >= 400 {", "\tio.Copy(os.Stderr, res.Body)", "\tlog.Fatal(res.Status)", "}");
  if (s.output)
    body.push(
      `out, err := os.Create(${JSON.stringify(s.output)})`,
      ...check,
      "defer out.Close()",
      "io.Copy(out, res.Body)",
    );
  else body.push("io.Copy(os.Stdout, res.Body)");
  const list = [...imports]
    .sort()
    .map((i) => `\t"${i}"`)
    .join("\n");
  return `package main\n\nimport (\n${list}\n)\n\nfunc main() {\n${body
    .map((l) =>
      l
        .split("\n")
        .map((x, i) => (i ? x : "\t" + x))
        .join("\n"),
    )
    .join("\n")}\n}`;
}

const check = ["if err != nil {", "\tlog.Fatal(err)", "}"];
