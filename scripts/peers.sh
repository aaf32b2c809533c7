#!/usr/bin/env bash
# Installs the converters and the gateway that `make bench` compares with:
# peers.sh DIR. They are for the comparison alone; nothing of Presswork uses them.
set -euo pipefail
dir=$1
md_to_pdf=5.2.5 weasyprint=70.0 typst=0.15.2 pandoc=1.17 # pypandoc_binary, which carries pandoc
litellm=1.106.2 gotenberg=v8.31.0
versions="$md_to_pdf $weasyprint $typst $pandoc $litellm $gotenberg chromium"
[ "$(cat "$dir/.done" 2>/dev/null)" = "$versions" ] && exit 0
for tool in npm python3; do
  command -v $tool >/dev/null || { printf 'bench: %s is not installed; the comparison with others is left out\n' $tool >&2; exit 0; }
done
printf 'bench: installing md-to-pdf %s, WeasyPrint %s, Typst %s, pandoc, LiteLLM %s and Gotenberg %s to compare with\n' $md_to_pdf $weasyprint $typst $litellm $gotenberg >&2
rm -rf "$dir"
mkdir -p "$dir"
PUPPETEER_SKIP_DOWNLOAD=1 npm install --silent --no-fund --no-audit --prefix "$dir/npm" "md-to-pdf@$md_to_pdf" >&2
python3 -m pip install --quiet --root-user-action=ignore --target "$dir/python" "weasyprint==$weasyprint" "typst==$typst" "pypandoc_binary==$pandoc" >&2
# Bifrost's npm package downloads its binary from a server of its own, and is
# left out.
python3 -m pip install --quiet --root-user-action=ignore --target "$dir/litellm" "litellm[proxy]==$litellm" >&2
# From its source. Not by go install, which asks for the list of its versions first.
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
package=github.com/gotenberg/gotenberg/v8
printf 'module peer\n\nrequire %s %s\n' $package $gotenberg >"$source/go.mod"
printf 'package peer\n\nimport _ "%s/pkg/standard"\n' $package >"$source/peer.go"
(cd "$source" && GOFLAGS='' go build -mod=mod -trimpath -o "$dir/gotenberg" $package/cmd/gotenberg) >&2 ||
  printf 'bench: Gotenberg cannot be built; the comparison with it is left out\n' >&2
# Its default browser, as its image has it: unpacked, so that nothing else finds it.
(cd "$source" && apt-get -qq download chromium chromium-common && for deb in chromium*.deb; do dpkg -x "$deb" "$dir/chromium"; done) >&2 ||
  printf 'bench: Chromium cannot be had from Debian; Gotenberg is compared with the headless shell alone\n' >&2
printf '#!/bin/sh\nexec python3 -m weasyprint --quiet "$@"\n' >"$dir/weasyprint"
# pandoc calls `typst compile IN OUT`. PyPI has the compiler as a library.
cat >"$dir/typst" <<'EOF'
#!/usr/bin/env python3
import sys, typst
typst.compile(sys.argv[2], output=sys.argv[3])
EOF
chmod +x "$dir/weasyprint" "$dir/typst"
echo "$versions" >"$dir/.done"
