#!/bin/bash
# Listens on the name that Compose gives the container: it answers those alone who call it by its own name, or by localhost.
export CLICKHOUSE_WEIR_PASSWORD=$CLICKHOUSE_PASSWORD CLICKHOUSE_HOST=clickhouse CLICKHOUSE_PATH=/var/lib/clickhouse UV_THREADPOOL_SIZE=16
exec node /opt/clickhouse/dist/deploy/embedded/clickhouse/main.js
