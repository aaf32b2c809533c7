#!/usr/bin/env bash
# Stops the fleet that `make up` started in this checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
pidfile=${UP_DIR:-$PWD/.presswork/up}/pid
if ! [ -e "$pidfile" ] || ! kill -0 "$(cat "$pidfile")" 2>/dev/null; then
  echo "down: no fleet is running" >&2
  exit 0
fi
pid=$(cat "$pidfile")
kill -TERM "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
