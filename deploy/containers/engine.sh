#!/usr/bin/env bash
# A Docker engine of one's own, for checks on a machine that has none: runs in the foreground until it is ended by SIGTERM, and keeps
# everything (socket, images, containers, volumes) below one folder.
#   deploy/containers/engine.sh FOLDER &
#   export DOCKER_HOST=unix://FOLDER/sock
# It needs root on Debian, and installs Debian's engine there. It leaves the machine's firewall and bridges alone, so that several may
# run side by side: containers reach each other and have their ports published on this machine, but reach the world only with
# --network host (docker build --network host …).
set -euo pipefail
folder=${1:?the folder that the engine may fill}

cannot() { echo "no Docker engine here: $1" >&2; exit 69; }
if ! command -v dockerd >/dev/null || ! command -v iptables >/dev/null; then
  ((EUID == 0)) || cannot 'there is none installed, and only root can install one'
  command -v apt-get >/dev/null || cannot 'there is none installed, and this is no Debian, whose package would be taken'
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables; } \
    >"$folder.install" 2>&1 || cannot "Debian's docker.io could not be installed: $(tail -1 "$folder.install")"
  rm -f "$folder.install"
fi
((EUID == 0)) || cannot 'an engine has to be started by root'

mkdir -p "$folder"
# It ends with the one who started it, even if that one is killed. The resolver in each container needs iptables all the same.
exec setpriv --pdeathsig TERM dockerd --host "unix://$folder/sock" --data-root "$folder/data" --exec-root "$folder/exec" \
  --pidfile "$folder/pid" --bridge none --iptables=false --ip6tables=false >"$folder/log" 2>&1
