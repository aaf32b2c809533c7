#!/usr/bin/env bash
# Makes internal/chromium/fonts/fonts.zip and coverage.go anew from the packages named
# below: the same bytes each time. Needs npm, python3 with venv, and the
# registries of npm and PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expo() { printf '@expo-google-fonts/%s ' "$@"; }
# The registries' packages, pinned.
npm_packages=$(expo atkinson-hyperlegible@0.4.1 bitter@0.4.2 cinzel@0.4.2 comic-neue@0.4.1 cormorant-garamond@0.4.1 \
  courier-prime@0.4.1 creepster@0.4.0 dancing-script@0.4.2 eb-garamond@0.4.3 fraunces@0.4.1 ibm-plex-mono@0.4.1 \
  ibm-plex-sans@0.4.1 inter@0.4.2 jetbrains-mono@0.4.1 josefin-sans@0.4.2 literata@0.4.3 lora@0.4.2 nunito@0.4.2 \
  orbitron@0.4.2 playfair-display@0.4.2 quicksand@0.4.1 righteous@0.4.1 source-sans-3@0.4.1 source-serif-4@0.4.1 \
  space-grotesk@0.4.1 special-elite@0.4.1 vt323@0.4.1 work-sans@0.4.2 zilla-slab@0.4.1)
npm_packages+=" @fontsource/noto-sans-symbols-2@5.3.0"
# ziamath carries the TrueType form of STIX Two Math.
pypi_fonts=ziamath==0.13
fonttools=fonttools==4.68.0

npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --no-save --silent $npm_packages
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$fonttools"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$work/pypi" "$pypi_fonts"

"$work/venv/bin/python" scripts/fonts.py "$work" internal/chromium/fonts
gofmt -w internal/chromium/fonts/coverage.go
ls -l internal/chromium/fonts/fonts.zip
