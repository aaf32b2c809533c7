#!/usr/bin/env bash
# Runs every fuzz target of the module from its seeds, each for the given time
# or number of inputs: fuzz.sh 10s, fuzz.sh 1000x. A package is built once. A number
# ends in the same way on any machine; at the end of a time go test sometimes fails
# with "context deadline exceeded" (https://go.dev/issue/75804).
set -euo pipefail
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r package; do
  go test -c -gcflags=presswork/...=-d=libfuzzer -o "$built/test" "./$package"
  (
    cd "$package"
    for target in $("$built/test" -test.list '^Fuzz'); do
      echo "$package $target"
      "$built/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$1" -test.fuzzcachedir "$built/cache/$target"
    done
  )
done
