#!/usr/bin/env bash
# Checks the English of Markdown pages and of comments in Go and TypeScript by
# Vale's rules in .vale/styles: prose.sh VALE [PATH ...]. Vale reads each line of a
# comment on its own, so comments are copied without their code, line for line,
# into Markdown files: a sentence may then span lines.
set -euo pipefail
cd "$(dirname "$0")/.."
vale=$1
shift
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT

files=$(git ls-files --cached --others --exclude-standard -- "${@:-.}" | grep -vE '(^|/)testdata/|(^|/)sample\.md$')

mapfile -t sources < <(grep -E '\.(go|tsx?)$' <<<"$files")
for file in "${sources[@]}"; do
	[ -f "$file" ] || continue # deleted, but not yet committed
	mkdir -p "$copies/comments/$(dirname "$file")"
	# Indented lines of a comment are code; directives have no space.
	sed -E '/^[[:space:]]*\/\/ /!s/.*//; s/^[[:space:]]*\/\/ //; s/^[[:space:]]{2,}.*//' "$file" >"$copies/comments/$file.md"
done

cp -r .vale.ini .vale "$copies"
status=0
if [ -d "$copies/comments" ]; then
	(cd "$copies" && "$vale" --output line comments) | sed -E "s,^comments/(.*)\.md:,\1:," || status=1
fi
mapfile -t pages < <(grep -E '\.md$' <<<"$files" | while read -r page; do [ ! -f "$page" ] || echo "$page"; done)
[ "${#pages[@]}" = 0 ] || "$vale" --output line "${pages[@]}" || status=1
exit "$status"
