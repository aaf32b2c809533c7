#!/usr/bin/env bash
# Runs a service that the fleet needs: outlast.sh COMMAND... Process managers tell
# all their processes to end at once; the service goes on until the API and the
# workers, which have written their ids into $UP_DIR/users, have drained.
set -uo pipefail
keeper=$$
users() {
  local file
  for file in "$UP_DIR"/users/*; do
    kill -0 "$(cat "$file" 2>/dev/null)" 2>/dev/null && return 0 # a bare return is that of before the trap
  done
  return 1
}
# A process group of its own: managers signal that of their child.
set -m
(
  ended=
  trap 'ended=1' TERM
  "$@" &
  service=$!
  # A manager that has lost patience kills the keeper: then the service ends, too.
  while [ -z "$ended" ] && kill -0 $service 2>/dev/null && kill -0 $keeper 2>/dev/null; do sleep 0.5; done
  kill -TERM $service 2>/dev/null
  wait $service
) &
inner=$!
end() {
  trap '' INT TERM
  asked=1
  # Somewhat longer than the longest drain.
  local tries=600
  while users && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
  kill -TERM $inner 2>/dev/null
}
trap end INT TERM
# A signal ends the first wait, whether or not the service has ended meanwhile.
asked=
wait $inner
status=$?
if [ -n "$asked" ]; then
  wait $inner
  status=$?
fi
exit $status
