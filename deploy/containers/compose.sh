#!/usr/bin/env bash
# Says where a Docker Compose is that reads docker-compose.yml (2.23.1 or later): the machine's own, or one built here by Go from the
# published module, which takes some minutes once and is kept in ~/.cache/weir/tools. Debian's docker-compose is 1.29, which knows
# neither the "content" of a config nor the merging of lists of anchors.
set -euo pipefail
version=v2.40.3
oldest=2.23.1

found=$(docker compose version --short 2>/dev/null || true)
if [ -n "$found" ] && printf '%s\n' "$oldest" "${found#v}" | sort -VC; then echo 'docker compose'; exit 0; fi
built=${XDG_CACHE_HOME:-$HOME/.cache}/weir/tools/docker-compose-$version
if [ -x "$built" ]; then echo "$built"; exit 0; fi

cannot() { echo "no Docker Compose here: $1" >&2; exit 69; }
command -v go >/dev/null || cannot "the machine has none from $oldest on, and no Go to build it with"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$(dirname "$built")"
(
  cd "$scratch"
  # A module of its own that needs Compose's: Go installs no program whose module replaces others.
  go mod init weir-tools && go get "github.com/docker/compose/v2/cmd@$version" &&
    CGO_ENABLED=0 go build -p 2 -trimpath -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" -o "$built.next" github.com/docker/compose/v2/cmd
) >"$scratch/log" 2>&1 || cannot "Go could not build it: $(tail -1 "$scratch/log")"
mv "$built.next" "$built"
echo "$built"
