#!/usr/bin/env bash
# Prints docs/ in the order of mkdocs.yml: manual.sh PROGRAM OUT makes OUT.pdf, OUT.epub and OUT.html. A finding is an
# error.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1 out=$2
for format in pdf epub html; do
  extra=(--toc)
  [ $format != pdf ] || extra+=(--cover --as book)
  [ $format != epub ] || extra=()
  "$program" md2pdf . --quiet --strict --theme corporate --title "The Presswork manual" "${extra[@]}" -o "$out.$format"
done
