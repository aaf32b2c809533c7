#!/usr/bin/env bash
# Builds the MinIO server that the tests start, once: minio.sh VERSION BINARY.
# MinIO's community edition has no packages any more, but it builds as a Go
# program.
set -euo pipefail
version=$1 binary=$2
[ -x "$binary" ] && exit 0
printf 'setup: building the MinIO server %s for the tests (a few minutes, once)\n' "$version" >&2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOFLAGS= GOBIN=$dir go install "github.com/minio/minio@$version"
mkdir -p "$(dirname "$binary")"
mv "$dir/minio" "$binary"
