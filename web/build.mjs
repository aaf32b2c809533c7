// Builds the pages into ../api/web/dist: names with a digest of their content, so
// that browsers may keep them, and the digest of the sources, by which
// `go test ./api/web` sees a build that is older than they are.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const out = "../api/web/dist";
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "assets"), { recursive: true });

const { metafile } = await build({
  entryPoints: {
    studio: "src/main.tsx",
    admin: "src/admin/main.tsx",
    docs: "src/docs/main.ts",
    live: "src/live.ts",
    style: "src/style.css",
    "admin-style": "src/admin/admin.css",
    "docs-style": "src/docs/docs.css",
  },
  outdir: join(out, "assets"),
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["chrome111", "firefox113", "safari16.4"],
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});

// asset copies a file under a name with its digest and returns its address.
function asset(from, name) {
  const bytes = readFileSync(from);
  const dot = name.lastIndexOf(".");
  const named = `${name.slice(0, dot)}-${digest(bytes).slice(0, 8).toUpperCase()}${name.slice(dot)}`;
  writeFileSync(join(out, "assets", named), bytes);
  return "/assets/" + named;
}

function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

// built returns the address of an entry point, and those of what it imports at once.
function built(entry) {
  const path = Object.keys(metafile.outputs).find((o) => metafile.outputs[o].entryPoint === entry);
  const imports = new Set();
  const collect = (file) => {
    for (const i of metafile.outputs[file].imports) {
      if (i.kind === "import-statement" && !imports.has(i.path)) {
        imports.add(i.path);
        collect(i.path);
      }
    }
  };
  collect(path);
  const address = (file) => "/assets/" + file.split("/").pop();
  return { href: address(path), imports: [...imports].map(address) };
}

const values = {
  style: built("src/style.css").href,
  adminStyle: built("src/admin/admin.css").href,
  icon: asset("src/icon.svg", "icon.svg"),
  docsStyle: built("src/docs/docs.css").href,
};
for (const [page, entry] of [
  ["index", "src/main.tsx"],
  ["admin", "src/admin/main.tsx"],
  ["docs", "src/docs/main.ts"],
  ["live", "src/live.ts"],
  ["preview", null],
]) {
  let html = readFileSync(`src/${page}.html`, "utf8");
  if (entry) {
    const { href, imports } = built(entry);
    const links = imports.map((i) => `<link rel="modulepreload" href="${i}">`);
    html = html.replace("{{script}}", [...links, `<script type="module" src="${href}"></script>`].join("\n"));
  }
  html = html.replace(/\{\{(\w+)\}\}/g, (whole, name) => values[name] ?? whole);
  writeFileSync(join(out, page + ".html"), html);
}

// Whose work is in the build, and under which licence.
const packages = new Set();
for (const file of Object.keys(metafile.inputs)) {
  const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  if (name) packages.add(name);
}
const licences = [...packages].sort().map((name) => {
  const dir = `node_modules/${name}/`;
  const { version, license } = JSON.parse(readFileSync(dir + "package.json", "utf8"));
  const files = readdirSync(dir)
    .filter((f) => /^(licen[cs]e|notice)/i.test(f))
    .sort();
  return [`${name} ${version} (${license})`, ...files.map((f) => readFileSync(dir + f, "utf8").trim())].join("\n\n");
});
writeFileSync(join(out, "licences.txt"), licences.join("\n\n----------\n\n") + "\n");

// The same list, and the same way of writing it, as api/web/web_test.go.
function sources(dir) {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? sources(path) : [path];
  });
}
const inputs = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json", ...sources("src")].sort();
const list = inputs.map((path) => `${digest(readFileSync(path))}  ${path}\n`).join("");
writeFileSync(join(out, "sources.sha256"), digest(Buffer.from(list)) + "\n");

for (const [file, o] of Object.entries(metafile.outputs)) {
  console.log(String(o.bytes).padStart(8), file.split("/").pop());
}
