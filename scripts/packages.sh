#!/usr/bin/env bash
# Installs the Debian and the RPM package of a release into clean roots, prints a document there, and removes them:
# packages.sh DIST. It needs root, bubblewrap, mmdebstrap and rpm.
set -euo pipefail
dist=$(realpath "$1")
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT
say() { printf 'packages: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
arch=$(dpkg --print-architecture)
printf '# Hello\n\nA page of **text**.\n' >"$roots/page.md"

files=(
  usr/bin/presswork usr/share/man/man1/presswork.1.gz usr/share/bash-completion/completions/presswork
  usr/share/zsh/vendor-completions/_presswork usr/share/fish/vendor_completions.d/presswork.fish
  usr/lib/systemd/system/presswork-serve.service usr/share/doc/presswork/copyright
)
# within ROOT COMMAND…: runs a command in the root, with devices and processes as a browser needs them.
within() {
  bwrap --bind "$1" / --proc /proc --dev /dev --tmpfs /dev/shm --unshare-pid --setenv HOME /tmp "${@:2}"
}
# check KIND ROOT RESULT…: the installed program works in the root.
check() {
  for file in "${files[@]}"; do [ -s "$2/$file" ] || fail "$1: /$file is missing"; done
  cp "$roots/page.md" "$2/tmp/page.md"
  within "$2" /usr/bin/presswork version >&2
  for page in "${@:3}"; do
    within "$2" /usr/bin/presswork md2pdf /tmp/page.md -q -o "/tmp/$page"
    [ -s "$2/tmp/$page" ] || fail "$1: $page was not made"
  done
}
# removed KIND ROOT: nothing of the package is left.
removed() {
  for file in "${files[@]}"; do [ ! -e "$2/$file" ] || fail "$1: /$file is left"; done
  say "$1: installed, printed, removed"
}

# A root of the packages that Debian's minimal system has, and of the browser that the package depends on.
root=$roots/deb
mmdebstrap --quiet --variant=minbase --include=ca-certificates "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$root"
cp "$dist"/presswork_*_"$arch".deb "$root/tmp/presswork.deb"
cp /etc/resolv.conf "$root/etc/"
chroot "$root" apt-get update -qq
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends /tmp/presswork.deb >/dev/null 2>&1
check deb "$root" page.pdf page.html
chroot "$root" apt-get remove -qq -y presswork >/dev/null 2>&1
removed deb "$root"

# The RPM has no system around it here: its program needs no library, but without a browser it makes web pages only.
root=$roots/rpm
mkdir -p "$root/tmp"
rpm --root "$root" --initdb
rpm --root "$root" -i --nodeps --noscripts "$dist"/presswork-*."$(uname -m)".rpm
check rpm "$root" page.html
rpm --root "$root" -e --noscripts presswork
removed rpm "$root"
