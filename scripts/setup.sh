#!/usr/bin/env bash
# Installs what Presswork needs on this machine and says what it installs.
# Nothing missing: it ends at once. `setup.sh run` is for running, `setup.sh
# tools` adds the libraries of code_interpreter and ffmpeg, `setup.sh test` those and what
# the tests need, `setup.sh compat` what other clients need, `setup.sh corpus` what
# a corpus is measured with, `setup.sh packages` what installs packages into clean roots.
set -euo pipefail
for_what=${1:-run}

say() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

have_browser() {
  [ -x /usr/lib/chromium/chromium-headless-shell ] || have chromium-headless-shell || have chromium ||
    have chromium-browser || have google-chrome || [ -d "/Applications/Chromium.app" ] || [ -d "/Applications/Google Chrome.app" ]
}
have_redis() { have redis-server || have valkey-server || have keydb-server; }
# The sandbox runs the system's Python, whichever is first in PATH.
have_science() {
  /usr/bin/python3 -c 'import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, ("numpy", "pandas", "matplotlib", "scipy", "sympy"))))' 2>/dev/null
}
# Fonts are asked for by file, because fontconfig itself may not be there yet.
have_font() { find /usr/share/fonts /usr/local/share/fonts "$HOME/.local/share/fonts" -iname "$1" -print -quit 2>/dev/null | grep -q .; }

need_fonts=()
if [ "$(uname -s)" = Linux ]; then
  have_font 'NotoSans-Regular*' || need_fonts+=(fonts-noto-core)
  have_font 'NotoSansCJK*' || need_fonts+=(fonts-noto-cjk)
  have_font 'NotoColorEmoji*' || need_fonts+=(fonts-noto-color-emoji)
  have_font 'DejaVuSansMono.ttf' || need_fonts+=(fonts-dejavu-core)
  have_font 'LiberationSans-Regular*' || need_fonts+=(fonts-liberation)
fi

missing=()
have_browser || missing+=(browser)
have_redis || missing+=(redis)
[ "$(uname -s)" != Linux ] || have bwrap || missing+=(bubblewrap)
if [ "$for_what" = tools ] || [ "$for_what" = test ]; then
  [ "$(uname -s)" != Linux ] || have_science || missing+=(science)
  have ffmpeg || missing+=(ffmpeg)
fi
if [ "$for_what" = test ]; then
  have pdftotext && have pdftoppm || missing+=(poppler)
  have ps || missing+=(ps)
  have groff || missing+=(groff)
fi
if [ "$for_what" = corpus ]; then
  have pdftotext && have pdftoppm || missing+=(poppler)
  have cmark-gfm || missing+=(cmark-gfm)
fi
if [ "$for_what" = compat ]; then
  have node && have npm || missing+=(node)
  python3 -m pip --version >/dev/null 2>&1 || missing+=(pip)
  # Other systems may have Firefox ESR from elsewhere.
  if have apt-cache && apt-cache show firefox-esr >/dev/null 2>&1; then have firefox-esr || missing+=(firefox); fi
fi
if [ "$for_what" = packages ]; then
  have mmdebstrap || missing+=(mmdebstrap)
  have rpm || missing+=(rpm)
fi
if [ ${#missing[@]} -eq 0 ] && [ ${#need_fonts[@]} -eq 0 ]; then
  exit 0
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else
    say "root is needed for: $*"
    say "run it as root, then run this again"
    exit 1
  fi
}

# choose_browser adds to packages what this distribution has. Ubuntu's own
# Chromium is a snap, which cannot run in a container nor read our fonts; there
# Google's package serves.
choose_browser() {
  local name deb
  for name in chromium-headless-shell chromium; do
    if apt-cache show "$name" >/dev/null 2>&1; then packages+=("$name"); return; fi
  done
  if [ "$(dpkg --print-architecture)" != amd64 ]; then
    say "this system has no package of Chromium. Install chromium-headless-shell, chromium or google-chrome yourself"
    say "(on Ubuntu for arm64 ppa:xtradeb/apps has chromium), then run this again"
    exit 1
  fi
  have curl || { say "installing: curl"; as_root apt-get install -y -qq --no-install-recommends curl ca-certificates >&2; }
  downloads=$(mktemp -d)
  trap 'rm -rf "$downloads"' EXIT
  chmod 755 "$downloads" # apt reads it as a user of its own
  deb=$downloads/google-chrome-stable.deb
  say "no package of Chromium here; downloading Google Chrome"
  curl -fsSL -o "$deb" https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb
  packages+=("$deb")
}

apt_setup() {
  say "bringing the package lists up to date (apt-get update)"
  as_root apt-get update -qq
  local packages=("${need_fonts[@]}") installs_redis=
  for m in "${missing[@]}"; do
    case $m in
      browser) choose_browser ;;
      redis) packages+=(redis-server); installs_redis=1 ;;
      bubblewrap) packages+=(bubblewrap) ;;
      science) packages+=(python3 python3-numpy python3-pandas python3-matplotlib python3-scipy python3-sympy) ;;
      ffmpeg) packages+=(ffmpeg) ;;
      poppler) packages+=(poppler-utils) ;;
      ps) packages+=(procps) ;;
      groff) packages+=(groff-base) ;;
      cmark-gfm) packages+=(cmark-gfm) ;;
      node) packages+=(nodejs npm) ;;
      pip) packages+=(python3 python3-pip) ;;
      firefox) packages+=(firefox-esr) ;;
      mmdebstrap | rpm) packages+=("$m") ;;
    esac
  done
  say "installing: ${packages[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
  # Presswork runs a redis-server of its own; the package's service would only
  # take a port.
  if [ -n "$installs_redis" ]; then
    say "switching the package's redis-server service off; Presswork starts its own"
    if [ -d /run/systemd/system ]; then
      as_root systemctl disable --now redis-server >&2
    else
      as_root update-rc.d redis-server disable >&2 && as_root /etc/init.d/redis-server stop >&2
    fi || say "the service redis-server could not be switched off"
  fi
}

brew_setup() {
  for m in "${missing[@]}"; do
    case $m in
      # The chromium cask is switched off: it is not signed for Gatekeeper.
      browser) say "installing: google-chrome (brew cask)"; brew install --cask google-chrome ;;
      redis) say "installing: redis"; brew install redis ;;
      ffmpeg) say "installing: ffmpeg"; brew install ffmpeg ;;
      poppler) say "installing: poppler"; brew install poppler ;;
      groff) say "installing: groff"; brew install groff ;;
      cmark-gfm) say "installing: cmark-gfm"; brew install cmark-gfm ;;
      node) say "installing: node"; brew install node ;;
      pip) say "installing: python"; brew install python ;;
    esac
  done
}

if have apt-get; then
  apt_setup
elif [ "$(uname -s)" = Darwin ] && have brew; then
  brew_setup
else
  say "this system has neither apt nor brew. Please install, then run this again:"
  for m in "${missing[@]}"; do
    case $m in
      browser) say "  - Chromium headless shell, Chromium or Google Chrome, in PATH" ;;
      redis) say "  - redis-server 6.2 or newer (or valkey-server), in PATH" ;;
      bubblewrap) say "  - bubblewrap (bwrap)" ;;
      science) say "  - Python 3 as /usr/bin/python3, with numpy, pandas, matplotlib, scipy and sympy" ;;
      ffmpeg) say "  - ffmpeg" ;;
      poppler) say "  - poppler-utils (pdftotext, pdfinfo, pdftoppm)" ;;
      ps) say "  - procps (ps)" ;;
      groff) say "  - groff" ;;
      cmark-gfm) say "  - cmark-gfm" ;;
      node) say "  - Node 22 or newer, and npm" ;;
      pip) say "  - Python 3 and pip" ;;
    esac
  done
  [ ${#need_fonts[@]} -eq 0 ] || say "  - fonts: ${need_fonts[*]} (Debian's names)"
  exit 1
fi
say "done"
