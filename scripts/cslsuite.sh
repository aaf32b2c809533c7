#!/usr/bin/env bash
# Fetches the test suite of the CSL project, once: cslsuite.sh VERSION SHA256 PATH.
# No registry has the suite by itself. Debian's source package haskell-citeproc holds it
# in test/csl; VERSION is the version of that package.
set -euo pipefail
version=$1 sum=$2 path=$3
[ -e "$path" ] && exit 0
say() { printf 'setup: %s\n' "$*" >&2; }
for tool in apt-get curl; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: the tests run without the CSL test suite"
    exit 0
  fi
done
# The pool is that of a repository which this machine uses.
repository=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -n 1 || true)
if [ -z "$repository" ]; then
  say "this machine uses no Debian repository: the tests run without the CSL test suite"
  exit 0
fi
say "fetching the CSL test suite from Debian's haskell-citeproc $version for the tests"
mkdir -p "$(dirname "$path")"
partial=$(mktemp "$path.XXXXXX")
trap 'rm -f "$partial"' EXIT
url=${repository%/}/pool/main/h/haskell-citeproc/haskell-citeproc_$version.orig.tar.gz
if ! curl -fsSL --retry 2 -o "$partial" "$url"; then
  say "the CSL test suite could not be fetched from $url: the tests run without it"
  exit 0
fi
if command -v sha256sum >/dev/null; then got=$(sha256sum "$partial"); else got=$(shasum -a 256 "$partial"); fi
if [ "${got%% *}" != "$sum" ]; then
  say "$url has the SHA-256 ${got%% *}, not $sum: it is not used"
  exit 1
fi
mv "$partial" "$path"
