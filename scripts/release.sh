#!/usr/bin/env bash
# Builds what a release consists of into a folder: release.sh NFPM OUT. For each
# system an archive with the program, its manual, completions and units; Debian and
# RPM packages; the list of what the program is made of (CycloneDX); the manual; a formula for Homebrew; checksums. The
# same commit gives the same bytes. RELEASE_SYSTEMS names other systems.
set -euo pipefail
cd "$(dirname "$0")/.."
nfpm=$1 out=$2
systems=${RELEASE_SYSTEMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
version=$(sed -n 's/^const release = "\(.*\)"$/\1/p' cmd/presswork/version.go)
if [ -n "$(git status --porcelain)" ]; then
  echo "release: the tree has changes that no commit has; commit them first" >&2
  exit 1
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
say() { printf 'release: %s\n' "$*" >&2; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
rm -rf "$out"
mkdir -p "$out"

# The manual and the completions are the same everywhere: this machine's program
# prints them.
CGO_ENABLED=0 go build -trimpath -o "$build/here" ./cmd/presswork
"$build/here" man | gzip -9n >"$build/presswork.1.gz"
mkdir "$build/completions" "$build/systemd"
for shell in bash zsh fish; do "$build/here" completion $shell >"$build/completions/presswork.$shell"; done
for unit in deploy/systemd/*.service; do sed 's|/usr/local/bin/|/usr/bin/|' "$unit" >"$build/systemd/${unit##*/}"; done
"$build/here" version --sbom >"$out/presswork_$version.cdx.json"

for system in $systems; do
  os=${system%/*} arch=${system#*/} name=presswork_${version}_${system%/*}_${system#*/}
  say "$name"
  mkdir "$build/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$build/$name/presswork" ./cmd/presswork
  cp -r LICENSE README.md "$build/presswork.1.gz" "$build/completions" "$build/$name/"
  tar --sort=name --mtime=@"$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$build" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
  [ "$os" = linux ] || continue
  cp "$build/$name/presswork" "$build/presswork"
  for packager in deb rpm; do
    ARCH=$arch VERSION=$version DIR=$build \
      "$nfpm" package --config deploy/nfpm.yaml --packager $packager --target "$out/" >&2
  done
done

say "manual"
scripts/manual.sh "$build/here" "$out/presswork_${version}_manual"

# The formula for Homebrew. RELEASES is where the archives will be.
repository=${REPOSITORY:-OWNER/presswork}
releases=${RELEASES:-https://github.com/$repository/releases/download/v$version}
sed "s|REPOSITORY|$repository|; s|RELEASES|$releases|g; s|VERSION|$version|g" deploy/homebrew.rb >"$out/presswork.rb"
for system in $systems; do
  digest=$(sha256sum "$out/presswork_${version}_${system%/*}_${system#*/}.tar.gz" | cut -d' ' -f1)
  sed -i.bak "s|SHA256_${system%/*}_${system#*/}|$digest|" "$out/presswork.rb"
done
rm "$out/presswork.rb.bak"
(cd "$out" && sha256sum presswork* >SHA256SUMS)
say "$(ls "$out" | wc -l) files in $out"
