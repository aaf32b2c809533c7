#!/usr/bin/env bash
# Runs the Procfile's processes with their names before their lines, until
# Ctrl-C or `make down`. One that ends is started again. It needs no process
# manager, and no bash newer than the 3.2 of macOS.
set -euo pipefail
# Every process gets a group of its own, so that Ctrl-C reaches this script
# alone: Redis must not go before the workers have drained.
set -m
cd "$(dirname "$0")/.."
export OUTLAST= # ends in order here
. scripts/fleet.sh
pidfile=$UP_DIR/pid
if [ -e "$pidfile" ] && kill -0 "$(cat "$pidfile")" 2>/dev/null; then
  echo "up: a fleet is running already (pid $(cat "$pidfile")); make down stops it" >&2
  exit 1
fi
# A process that ends this soon, in seconds, and so often in a row, will not run.
soon=5 most=3

pids=()
names=()
commands=()
started=() # when, in seconds of this script
failed=()  # how often in a row it ended soon
prefixed() { # name; outlives Ctrl-C for the last lines
  trap '' INT
  while IFS= read -r line; do printf '%-7s | %s\n' "$1" "$line"; done
}
start() { # index
  # The process itself is the child, and not a pipeline, so that a signal
  # reaches it and nothing else.
  bash -c "${commands[$1]}" > >(prefixed "${names[$1]}") 2>&1 &
  pids[$1]=$!
  started[$1]=$SECONDS
  echo "up: ${names[$1]} started (pid $!)" >&2
}
stop() {
  trap - INT TERM EXIT
  # Those that need Redis and the store end first, and drain.
  end '^(api|worker)'
  end '.'
  rm -f "$pidfile"
}
end() { # the processes whose names match
  local i
  for i in ${pids[@]+"${!pids[@]}"}; do
    if [[ ${names[i]} =~ $1 ]]; then kill -TERM "${pids[i]}" 2>/dev/null || true; fi
  done
  for i in ${pids[@]+"${!pids[@]}"}; do
    if [[ ${names[i]} =~ $1 ]]; then wait "${pids[i]}" 2>/dev/null || true; fi
  done
}
tend() { # starts again what has ended; fails when something will not run
  local i
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null && continue
    if [ $((SECONDS - started[i])) -ge $soon ]; then failed[i]=0; fi
    failed[i]=$((failed[i] + 1))
    if [ "${failed[i]}" -ge $most ]; then
      echo "up: ${names[i]} ended $most times within $soon seconds of its start; stopping the fleet" >&2
      return 1
    fi
    echo "up: ${names[i]} (pid ${pids[i]}) has ended; starting it again" >&2
    start "$i"
  done
}
wait_for() { # host:port
  local tries=300
  until (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; do
    tend || exit 1
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "up: $1 does not answer" >&2; exit 1; }
    sleep 0.1
  done
}
trap stop EXIT
trap 'exit 0' INT TERM
echo $$ >"$pidfile"
while IFS=: read -r name command; do
  case $name in
    '' | '#'*) continue ;;
    api) wait_for "127.0.0.1:$REDIS_PORT"; wait_for "$S3_ENDPOINT" ;;
  esac
  names+=("$name")
  commands+=("${command# }")
  failed+=(0)
  start $((${#names[@]} - 1))
done <Procfile
while tend; do sleep 0.5; done
exit 1
