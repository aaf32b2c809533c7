#!/usr/bin/env bash
# Shows what the death of workers costs: starts the Procfile's fleet, submits
# documents, kills a worker (kill -9) every few seconds, and says in the end what
# became of every document that was accepted. It fails unless all are completed.
# DEMO_SECONDS is how long documents are submitted, DEMO_KILL how often a worker is
# killed, in seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${DEMO_SECONDS:-30} every=${DEMO_KILL:-4}
. scripts/fleet.sh
base=http://127.0.0.1:${API_PORT:-8000}
log=$UP_DIR/demo.log
say() { printf 'demo: %s\n' "$*"; }

# A group of its own, so that Ctrl-C stops the demo and the trap stops the fleet.
set -m
scripts/up.sh >"$log" 2>&1 &
fleet=$!
stop() {
  trap - INT TERM EXIT
  kill -TERM "$fleet" 2>/dev/null && say "stopping the fleet"
  wait "$fleet" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM

say "starting a fleet: API, two workers, Redis, MinIO"
until curl -fs -o /dev/null "$base/readyz" && [ "$(grep -c '^worker.*listening' "$log")" -ge 2 ]; do
  kill -0 "$fleet" 2>/dev/null || { tail -n 5 "$log" >&2; exit 1; }
  sleep 0.2
done
say "watch it at $base/admin"

field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
ids=() refused=0 killed=0 end=$((SECONDS + seconds)) next=$((SECONDS + every)) victim=1
while [ $SECONDS -lt $end ]; do
  id=$({ echo "# Document $((${#ids[@]} + 1))"; cat docs/architecture.md; } |
    curl -fsS --data-binary @- -H 'Content-Type: text/markdown' "$base/api/conversion" 2>/dev/null | field job_id) || true
  if [ -n "$id" ]; then ids+=("$id"); else refused=$((refused + 1)); fi
  if [ $SECONDS -ge $next ]; then
    pid=$(sed -n "s/^up: worker$victim started (pid \([0-9]*\))\$/\1/p" "$log" | tail -n 1)
    if kill -KILL "$pid" 2>/dev/null; then
      killed=$((killed + 1))
      say "${#ids[@]} documents accepted; killed worker$victim (pid $pid)"
    fi
    victim=$((3 - victim)) next=$((SECONDS + every))
  fi
  sleep 0.1
done

say "no more documents; waiting for the last of ${#ids[@]}"
completed=0 lost=()
for id in "${ids[@]}"; do
  status='' tries=60
  until [ "$status" = completed ] || [ "$status" = failed ] || [ $tries -eq 0 ]; do
    status=$(curl -fsS "$base/api/conversion/$id?wait=10s" 2>/dev/null | field status) || status=''
    tries=$((tries - 1))
  done
  if [ "$status" = completed ] && curl -fsSL -o /dev/null "$base/api/artifacts/$id/download"; then
    completed=$((completed + 1))
  else
    lost+=("$id ${status:-unknown}")
  fi
done
say "$killed workers killed, $refused submissions refused; of ${#ids[@]} accepted documents $completed are printed, ${#lost[@]} are not"
if [ ${#lost[@]} -gt 0 ]; then
  printf 'demo: not printed: %s\n' "${lost[@]}" >&2
  exit 1
fi
