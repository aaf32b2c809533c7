#!/usr/bin/env bash
# Bundles pdf.js from npm into internal/document/raster: pdfjs.sh, with the version that
# raster.go names. It needs npm; the result is checked in.
set -euo pipefail
out=$(cd "$(dirname "$0")/../internal/document/raster/pdfjs" && pwd)
version=$(grep -o 'pdf.js [0-9.]*[0-9]' "$out/../raster.go" | head -1 | cut -d' ' -f2)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts "pdfjs-dist@$version" >&2
npm install --silent --no-audit --no-fund esbuild@0.28.2 >&2
cat >entry.mjs <<'JS'
import * as pdfjs from "pdfjs-dist/build/pdf.mjs";
import * as worker from "pdfjs-dist/build/pdf.worker.mjs";
globalThis.pdfjsWorker = worker;
globalThis.pdfjs = pdfjs;
JS
node_modules/.bin/esbuild entry.mjs --bundle --minify --format=iife --target=chrome120 --legal-comments=none --outfile=pdfjs.js
gzip -9nc pdfjs.js >"$out/pdfjs.js.gz"
cp node_modules/pdfjs-dist/LICENSE "$out/LICENSE"
