#!/bin/bash
# As apache/kafka does: KAFKA_LOG_DIRS is log.dirs in server.properties, and a new data folder is formatted first.
set -euo pipefail
properties=/opt/kafka/config/server.properties
env | sed -n 's/^KAFKA_\([A-Z_]*\)=\(.*\)/\1 \2/p' | while read -r name value; do
  echo "$(tr A-Z_ a-z. <<<"$name")=$value"
done >$properties
run=(java -Xms256m -Xmx768m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -cp '/opt/kafka/libs/*')
"${run[@]}" kafka.tools.StorageTool format --ignore-formatted --cluster-id=5L6g3nShT-eMCtK--X86sw -c $properties
exec "${run[@]}" kafka.Kafka $properties
