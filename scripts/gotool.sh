#!/usr/bin/env bash
# Builds a Go program that checks this one, once: gotool.sh PACKAGE VERSION BINARY.
set -euo pipefail
package=$1 version=$2 binary=$3
[ -x "$binary" ] && exit 0
printf 'setup: building %s %s, once: a few minutes on an idle machine\n' "$package" "$version" >&2
partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
GOFLAGS='' GOBIN=$partial go install -trimpath "$package@$version"
mkdir -p "$(dirname "$binary")"
mv "$partial"/* "$binary" # a version at the end of the path is not its name
