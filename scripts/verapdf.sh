#!/usr/bin/env bash
# Fetches veraPDF, which the tests check PDF/A and PDF/UA with, once:
# verapdf.sh VERSION JAR. It is a Java program on Maven Central. Without Java
# or Maven the tests say that they leave it out.
set -euo pipefail
version=$1 jar=$2
[ -f "$jar" ] && exit 0
say() { printf 'setup: %s\n' "$*" >&2; }
for tool in java mvn; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: the tests run without veraPDF (Debian: apt-get install default-jre-headless maven)"
    exit 0
  fi
done
say "fetching veraPDF $version for the tests"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! mvn -B -q dependency:copy -Dartifact="org.verapdf.apps:cli:$version" -DoutputDirectory="$dir" >&2; then
  say "veraPDF could not be fetched from Maven Central: the tests run without it"
  exit 0
fi
mkdir -p "$(dirname "$jar")"
mv "$dir/cli-$version.jar" "$jar"
