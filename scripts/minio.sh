#!/usr/bin/env bash
# Builds the MinIO server that the tests start, once: minio.sh VERSION BINARY.
# MinIO's community edition has no packages any more, but it builds as a Go
# program.
set -euo pipefail
version=$1 binary=$2
[ -x "$binary" ] && exit 0
say() { printf 'setup: %s\n' "$*" >&2; }
say "building the MinIO server $version for the tests, once: a few minutes on an idle machine"
mkdir -p "$(dirname "$binary")"
partial=$binary.partial
# The module's own folder is read-only, and so are its go.mod and go.sum.
source=$(GOFLAGS='' go mod download -json "github.com/minio/minio@$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
cd "$source"
total=$(GOFLAGS='' go list -deps . | wc -l)
done=0
# Nobody debugs it: without debugging information it compiles and links sooner.
# With -v the compiler names each package; whatever else it says has spaces.
GOFLAGS='' go build -v -trimpath -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$partial" . 2>&1 |
  while IFS= read -r line; do
    case $line in
      *' '*) printf '%s\n' "$line" >&2; continue ;;
    esac
    done=$((done + 1))
    if [ $((done % 100)) -eq 0 ] || [ "$done" -eq "$total" ]; then say "MinIO: $done of $total packages"; fi
  done
mv "$partial" "$binary"
