#!/usr/bin/env bash
# Runs `presswork serve` on http://127.0.0.1:8000 with three engines beside it, until
# Ctrl-C: demo-inference.sh DIR, which scripts/engines.sh filled. The scripted model shows
# calls of tools, which a base model of this size does not make.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
own=$(mktemp -d)
pids=()
stop() {
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$own"
}
trap stop EXIT
trap 'exit 130' INT TERM
cat >"$own/models.yaml" <<'EOF'
models:
  - {id: gemma, capabilities: [chat], context_window: 2048, upstreams: [{kind: llama-server, base_url: "http://127.0.0.1:8101/v1", model: gemma}]}
  - {id: whisper, capabilities: [transcription], upstreams: [{base_url: "http://127.0.0.1:8102/v1", model: whisper}]}
  - {id: scripted, upstreams: [{base_url: "http://127.0.0.1:8100/v1", model: tools-plan}]}
EOF
go build -o "$own/fakemodel" ./internal/inference/inferencetest/fakemodel
"$own/fakemodel" -addr 127.0.0.1:8100 >"$own/scripted.log" 2>&1 & pids+=($!)
"$dir/llama-server" -m "$dir/models/gemma-3-270m.gguf" --port 8101 --alias gemma >"$own/llama.log" 2>&1 & pids+=($!)
"$dir/whisper-server" -m "$dir/models/whisper-tiny.en" --port 8102 >"$own/whisper.log" 2>&1 & pids+=($!)
ready() { (exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'GET /health HTTP/1.0\r\n\r\n' >&3 && read -r answer <&3 && [[ $answer == *" 200 "* ]]) 2>/dev/null; }
for port in 8101 8102; do
  for _ in $(seq 120); do
    ready $port && continue 2
    sleep 1
  done
  printf 'demo-inference: the engine on port %s did not start\n' $port >&2
  tail -n 5 "$own"/*.log >&2
  exit 1
done
cat <<EOF

In another terminal, in this folder:

a stream of a real model (it continues what you write; it is not trained to chat)
  bin/presswork chat --model gemma "The capital of France is"
a real transcription
  curl http://127.0.0.1:8000/v1/audio/transcriptions -F model=whisper -F file=@$dir/clips/beckett.wav
Python run for a model, which is scripted here: its message is its plan
  bin/presswork chat --model scripted --tools code 'python {"code":"sum(n*n for n in range(10))"}'

EOF
INFERENCE_CONFIG="$own/models.yaml" bin/presswork serve & pids+=($!)
wait $!
