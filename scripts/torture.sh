#!/usr/bin/env bash
# Breaks a fleet for TORTURE (20m) and checks what came of it: three versions of the
# program take turns. This one; this one with a clock that can be set (Go programs
# ask the kernel for the time, past libfaketime, so package time is built with a patch);
# and the one of TORTURE_PREVIOUS, a commit or tag, by default the commit that CHANGELOG.md
# names for the last release, where the history has it. TORTURE_SEED repeats the choice of
# faults, TORTURE_JOBS bounds the jobs. For a quarter of the time Redis has a replica and
# fails over, and for another it is a Cluster that loses nodes. The histories and logs stay
# in bin/torture.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf 'torture: %s\n' "$*" >&2; }
out=$PWD/bin/torture
# Go does not look into folders whose names begin with an underscore.
rm -rf "$out" && mkdir -p "$out/_src"

say "building the program with a clock that can be set"
goroot=$(go env GOROOT)
sed 's/^\tsec, nsec, mono := runtimeNow()$/&\n\tsec += ahead()/' "$goroot/src/time/time.go" >"$out/_src/time.go"
grep -q 'ahead()' "$out/_src/time.go" || { say "package time of $(go env GOVERSION) has another form"; exit 1; }
cp internal/test/nemesis/testdata/ahead.go.txt "$out/_src/ahead.go"
printf '{"Replace":{"%s/src/time/time.go":"%s/_src/time.go","%s/src/time/ahead.go":"%s/_src/ahead.go"}}' \
  "$goroot" "$out" "$goroot" "$out" >"$out/_src/overlay.json"
go build -overlay "$out/_src/overlay.json" -o "$out/presswork-clock" ./cmd/presswork
export TORTURE_CLOCKED=$out/presswork-clock

previous=${TORTURE_PREVIOUS:-$(sed -n 's/.*commit `\([0-9a-f]*\)`.*/\1/p' CHANGELOG.md | head -1)}
if git cat-file -e "$previous^{commit}" 2>/dev/null; then
  say "building version $previous"
  mkdir "$out/_src/previous"
  git archive "$previous" | tar -x -C "$out/_src/previous"
  (cd "$out/_src/previous" && go build -o "$out/presswork-previous" ./cmd/presswork)
  export TORTURE_OTHERS=$out/presswork-previous
else
  say "$previous is not in this clone; nodes are restarted with this version alone"
fi

run() { # name, time, form of Redis
  say "$1: $2"
  TORTURE=$2 TORTURE_REDIS=$3 TORTURE_DIR=$out/$1 go test -count=1 -timeout 0 -v -run 'TestAcceptedJobsCompleteOnceUnderFaults$' ./internal/test/e2e |
    tee "$out/$1.log"
}
# time as seconds: Go's form of one number with h, m or s.
length=${TORTURE:-20m}
case $length in
  *h) seconds=$((${length%h} * 3600)) ;;
  *m) seconds=$((${length%m} * 60)) ;;
  *s) seconds=${length%s} ;;
  *) say "TORTURE=$length: allowed are whole numbers with h, m or s"; exit 2 ;;
esac
status=0
run single "$((seconds / 2))s" "" || status=1
run replicated "$((seconds / 4))s" replicated || status=1
run cluster "$((seconds / 4))s" cluster || status=1
exit $status
