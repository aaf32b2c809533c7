#!/usr/bin/env bash
# Runs the Procfile's processes with their names before their lines, until
# Ctrl-C or `make down`. It needs no process manager, and no bash newer than
# the 3.2 of macOS.
set -euo pipefail
# Every process gets a group of its own, so that Ctrl-C reaches this script
# alone: Redis must not go before the workers have drained.
set -m
cd "$(dirname "$0")/.."
export UP_DIR=${UP_DIR:-$PWD/.presswork/up}
mkdir -p "$UP_DIR/redis" "$UP_DIR/minio"
pidfile=$UP_DIR/pid
if [ -e "$pidfile" ] && kill -0 "$(cat "$pidfile")" 2>/dev/null; then
  echo "up: a fleet is running already (pid $(cat "$pidfile")); make down stops it" >&2
  exit 1
fi
export REDIS_PORT=${REDIS_PORT:-6390}
export REDIS_URL=redis://127.0.0.1:$REDIS_PORT/0
export S3_ENDPOINT=${S3_ENDPOINT:-127.0.0.1:9390} S3_BUCKET=presswork S3_ACCESS_KEY=presswork S3_SECRET_KEY=presswork-secret
export MINIO_ROOT_USER=$S3_ACCESS_KEY MINIO_ROOT_PASSWORD=$S3_SECRET_KEY

pids=()
names=()
prefixed() { # name; outlives Ctrl-C for the last lines
  trap '' INT
  while IFS= read -r line; do printf '%-7s | %s\n' "$1" "$line"; done
}
start() { # name, command
  # The process itself is the child, and not a pipeline, so that a signal
  # reaches it and nothing else.
  bash -c "$2" > >(prefixed "$1") 2>&1 &
  pids+=($!)
  names+=("$1")
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
running() { # whether every process is; says which is not
  local i
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null || { echo "up: ${names[i]} has ended; stopping the fleet" >&2; return 1; }
  done
}
wait_for() { # host:port
  local tries=300
  until (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; do
    running || exit 1
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
  start "$name" "${command# }"
done <Procfile
# Any process that ends takes the fleet down with it.
while running; do sleep 0.5; done
exit 1
