#!/usr/bin/env bash
# Runs every fuzz target of the module from its seeds, each for the given time
# or number of inputs: fuzz.sh 10s, fuzz.sh 1000x. A package is built once, and two
# targets run at a time, with one process each. A number of inputs are nearly the same ones each
# time, so that a change is not judged by what chance finds; at the end of a time go test
# sometimes fails with "context deadline exceeded" (https://go.dev/issue/75804).
set -euo pipefail
if [[ $1 == *x ]]; then export GODEBUG=${GODEBUG:+$GODEBUG,}fuzzseed=1; fi
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
export built time=$1
fuzz() { # package target
  cd "$1"
  "$built/$1/test" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" -test.parallel 1 -test.fuzzcachedir "$built/$1/cache/$2" >"$built/$1/$2.log" 2>&1 || {
    printf '%s %s\n' "$1" "$2"
    cat "$built/$1/$2.log"
    return 1
  }
  printf '%s %s: %s\n' "$1" "$2" "$(grep execs "$built/$1/$2.log" | tail -n 1)"
}
export -f fuzz
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r package; do
  mkdir -p "$built/$package"
  go test -c -gcflags=presswork/...=-d=libfuzzer -o "$built/$package/test" "./$package" >&2
  (cd "$package" && "$built/$package/test" -test.list '^Fuzz' | sed "s|^|$package |")
done >"$built/targets"
xargs -P 2 -L 1 bash -c 'fuzz "$0" "$1"' <"$built/targets"
