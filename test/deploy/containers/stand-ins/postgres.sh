#!/bin/bash
# As the official postgres does: a new data folder gets its user, its database and what is in /docker-entrypoint-initdb.d, from a
# server that only listens on its socket; then the server is started for good.
set -euo pipefail
shopt -s nullglob
export PGDATA=/var/lib/postgresql/18/docker PGUSER=$POSTGRES_USER PGHOST=/tmp PATH=/opt/postgres/bin:$PATH
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses='' -c unix_socket_directories=/tmp" start
  psql -d postgres -c "create database \"$POSTGRES_DB\""
  for file in /docker-entrypoint-initdb.d/*.sql; do psql -d "$POSTGRES_DB" -v ON_ERROR_STOP=1 -f "$file"; done
  pg_ctl -w -m fast stop
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
