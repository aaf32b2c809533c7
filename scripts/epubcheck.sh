#!/usr/bin/env bash
# Fetches EPUBCheck, which the tests check books with, once: epubcheck.sh VERSION
# DIR. It is a Java program on Maven Central, of several files. Without Java or
# Maven the tests say that they leave it out.
set -euo pipefail
version=$1 dir=$2
[ -d "$dir" ] && exit 0
say() { printf 'setup: %s\n' "$*" >&2; }
for tool in java mvn; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: the tests run without EPUBCheck (Debian: apt-get install default-jre-headless maven)"
    exit 0
  fi
done
say "fetching EPUBCheck $version for the tests"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cat >"$temp/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>presswork</groupId><artifactId>setup</artifactId><version>1</version>
<dependencies><dependency><groupId>org.w3c</groupId><artifactId>epubcheck</artifactId><version>$version</version></dependency></dependencies></project>
POM
if ! mvn -B -q -f "$temp/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$temp/jars" >&2; then
  say "EPUBCheck could not be fetched from Maven Central: the tests run without it"
  exit 0
fi
mkdir -p "$(dirname "$dir")"
mv "$temp/jars" "$dir"
