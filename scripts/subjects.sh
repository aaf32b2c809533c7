#!/usr/bin/env bash
# Checks the subjects of the last commits: `package: imperative change`, at most 72
# characters. subjects.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
while read -r commit subject; do
	wrong=
	[ "${#subject}" -le 72 ] || wrong="has ${#subject} characters; at most 72 are allowed"
	if ! grep -qE '^[a-z0-9][A-Za-z0-9./_-]*(, [a-z0-9][A-Za-z0-9./_-]*)*: [a-z]' <<<"$subject"; then
		wrong='is not of the form "package: imperative change"'
	elif grep -qE ': ([a-z]+(ed|ing)|a|an|the|it|there|who|what|when) ' <<<"$subject" &&
		! grep -qE ': (embed|feed|need|seed|speed|bring) ' <<<"$subject"; then
		wrong='does not start with an imperative verb after the colon'
	fi
	[ -z "$wrong" ] || { echo "commit $commit: subject $wrong: $subject" >&2; status=1; }
done < <(git log --no-merges --format='%h %s' -n "${1:-40}")
exit "$status"
