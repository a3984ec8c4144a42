#!/usr/bin/env bash
# Builds programs of Kubernetes from Go modules, where no release can be downloaded, and prints the folder that they are in:
#   PATH="$(test/support/kubernetes/binaries.sh helm):$PATH" helm version
# What is built once stays in the user's cache, one file for each program and version; an interrupted build goes on where it stopped.
# On two cores: helm 2 minutes, all of them about 25.
set -euo pipefail

kubernetes=1.34.2
declare -A version=(
  [helm]=3.18.4 [etcd]=3.6.5 [kwok]=0.7.0
  [kube-apiserver]=$kubernetes [kube-controller-manager]=$kubernetes [kube-scheduler]=$kubernetes [kubelet]=$kubernetes
)
bin=${XDG_CACHE_HOME:-$HOME/.cache}/weir/kubernetes/bin
mkdir -p "$bin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# `go install` refuses modules with "replace" lines, which Kubernetes and etcd have. So each is built from a module of our own, in
# which the published version of every replaced module is named.
build_in_own_module() {
  local name=$1 module=$2 package=$3
  mkdir -p "$work/$name" && cd "$work/$name"
  printf 'module here\n\ngo 1.24.0\n\nrequire %s v%s\n' "$module" "${version[$name]}" >go.mod
  if [[ $module == k8s.io/kubernetes ]]; then
    local theirs
    theirs=$(go mod download -json "$module@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
    sed -nE "s#^\s*(k8s.io/[a-z-]+) => ./staging.*#replace \1 => \1 v0.${kubernetes#1.}#p" "$theirs" >>go.mod
  fi
  # Otherwise Kubernetes says that it is v0.0.0, and a chart that asks for a version is refused.
  local said="-X k8s.io/component-base/version.gitVersion=v$kubernetes"
  said+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${kubernetes:2:2}"
  GOFLAGS='-buildvcs=false -mod=mod' go build -ldflags "$said" -o "$work/$name.built" "$package"
}

build() {
  local name=$1
  go version >/dev/null 2>&1 || { echo 'the programs of Kubernetes are built with Go 1.24 or later, which is not here' >&2; return 1; }
  echo "building $name ${version[$name]} from its Go module" >&2
  case $name in
    helm) GOBIN=$work go install "helm.sh/helm/v3/cmd/helm@v${version[helm]}" && mv "$work/helm" "$work/helm.built" ;;
    kwok) GOBIN=$work go install "sigs.k8s.io/kwok/cmd/kwok@v${version[kwok]}" && mv "$work/kwok" "$work/kwok.built" ;;
    etcd) build_in_own_module etcd go.etcd.io/etcd/server/v3 go.etcd.io/etcd/server/v3 ;;
    *) build_in_own_module "$name" k8s.io/kubernetes "k8s.io/kubernetes/cmd/$name" ;;
  esac >&2
}

for name in "$@"; do
  [[ -n ${version[$name]:-} ]] || { echo "$name is none of: ${!version[*]}" >&2; exit 1; }
  kept=$bin/$name-${version[$name]}
  if [[ ! -x $kept ]]; then
    # Two at once would only do the same work twice.
    exec 9>"$kept.lock" && flock 9
    [[ -x $kept ]] || { build "$name" && mv "$work/$name.built" "$kept"; }
    exec 9>&-
    rm -f "$kept.lock"
  fi
  ln -sfn "$name-${version[$name]}" "$bin/$name"
done
echo "$bin"
