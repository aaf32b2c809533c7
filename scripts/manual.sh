#!/usr/bin/env bash
# Prints docs/ in the order of mkdocs.yml: manual.sh PROGRAM OUT makes OUT.pdf with an index of settings and commands,
# OUT.epub, and the web pages of OUT_site.tar.gz. A finding is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1") out=$2
title="The Presswork manual"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/site" "$(dirname "$out")"
out=$(realpath "$(dirname "$out")")/$(basename "$out")
cp -r mkdocs.yml docs "$copy"
print() { "$program" md2pdf "$@" --quiet --strict --theme corporate; }

(cd "$copy" && print . --title "$title" -o "$out.epub")

# Each page of the site ends with links to its neighbours. The first page is the contents.
mapfile -t pages < <(sed -n 's/^ *- \(.*\.md\)$/\1/p' mkdocs.yml)
title_of() { sed -n '/^# /{s/^# //p;q;}' "docs/$1"; }
{
  printf '# %s\n' "$title"
  sed -n '/^nav:/,$p' mkdocs.yml | while read -r dash entry; do
    case $entry in
      *.md) printf -- '- [%s](%s)\n' "$(title_of "$entry")" "$entry" ;;
      *:) [ "$dash" != - ] || printf '\n## %s\n\n' "${entry%:}" ;;
    esac
  done
} >"$copy/docs/index.md"
for i in "${!pages[@]}"; do
  page=${pages[$i]} up=
  [[ $page != */* ]] || up=../
  {
    printf -- '---\ntoc: true\n---\n\n'
    cat "docs/$page"
    printf '\n---\n\n'
    [ "$i" = 0 ] || printf '← [%s](%s) · ' "$(title_of "${pages[$i - 1]}")" "$up${pages[$i - 1]}"
    printf '[Contents](%s)' "${up}index.md"
    [ "$((i + 1))" = "${#pages[@]}" ] || printf ' · [%s](%s) →' "$(title_of "${pages[$i + 1]}")" "$up${pages[$i + 1]}"
    printf '\n'
  } >"$copy/docs/$page"
done
(cd "$copy/docs" && print index.md "${pages[@]}" --allow . --to html -o "$copy/site/")
tar --sort=name --mtime=@"${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner -C "$copy/site" -cf - . | gzip -9n >"${out}_site.tar.gz"

# The index names the settings and the commands in the text, except in the list of all settings.
for page in "${pages[@]}"; do
  cp "docs/$page" "$copy/docs/$page"
  [ "$page" != configuration.md ] || continue
  sed -i -E '/^```/,/^```/!{s/`([A-Z][A-Z0-9]*(_[A-Z0-9]+)+)`/&\\index{\1}/g; s/`(presswork [a-z0-9]+|make [a-z-]+)[^`]*`/&\\index{\1}/g}' "$copy/docs/$page"
done
printf '\n\\printindex\n' >>"$copy/docs/$page"
(cd "$copy" && print . --title "$title" --toc --cover --as book -o "$out.pdf")
