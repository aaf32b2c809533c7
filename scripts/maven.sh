#!/usr/bin/env bash
# Fetches a Java program that the tests check files with, once, from Maven Central:
# maven.sh NAME GROUP:ARTIFACT:VERSION PATH. Where PATH ends in .jar it becomes that
# one file, else a folder of the artifact and all that it depends on. Without Java or
# Maven the tests say that they leave it out.
set -euo pipefail
name=$1 path=$3
IFS=: read -r group artifact version <<<"$2"
[ -e "$path" ] && exit 0
say() { printf 'setup: %s\n' "$*" >&2; }
for tool in java mvn; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: the tests run without $name (Debian: apt-get install default-jre-headless maven)"
    exit 0
  fi
done
say "fetching $name $version for the tests"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cat >"$temp/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>presswork</groupId><artifactId>setup</artifactId><version>1</version>
<dependencies><dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency></dependencies></project>
POM
fetched=$temp/jars
if [[ $path = *.jar ]]; then
  fetched=$temp/jars/$artifact-$version.jar
  get=(dependency:copy -Dartifact="$2")
else
  get=(dependency:copy-dependencies -DincludeScope=runtime)
fi
if ! mvn -B -q -f "$temp/pom.xml" "${get[@]}" -DoutputDirectory="$temp/jars" >&2; then
  say "$name could not be fetched from Maven Central: the tests run without it"
  exit 0
fi
mkdir -p "$(dirname "$path")"
mv "$fetched" "$path"
