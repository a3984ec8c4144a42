#!/bin/sh
# Gives each of Weir's services the rights on Kafka that it needs, and no others. May be run again, and before the topics exist.
#
#   KAFKA_ACLS=/opt/kafka/bin/kafka-acls.sh deploy/kafka-acls.sh --bootstrap-server kafka:9093 --command-config admin.properties
#
# What stands behind its name goes to Kafka's own tool as it is, which thus reaches the cluster as somebody who may change rights.
# With --dry-run before it, nothing is changed, and the commands are printed. As whom the services log in can be changed by
# EDGE_PRINCIPAL, INTEGRITY_PRINCIPAL, SINK_PRINCIPAL, DELIVERY_PRINCIPAL and OPERATOR_PRINCIPAL.
set -eu

# Reading, writing and deleting each include the right to describe; "prefixed" means every name that begins so.
rights() {
  cat <<'END'
# The edge appends batches, and reads verdicts, each edge in a consumer group of its own. For feeds it reads batches again, and for the
# console what was published.
edge --operation Read --operation Write --topic weir.submitted. --resource-pattern-type prefixed
edge --operation Read --topic weir.verdicts --topic weir.interactions --topic weir.rejected --topic weir.waiting --topic weir.erasures
edge --operation Read --topic weir.accepted. --resource-pattern-type prefixed
edge --operation Read --group weir-edge- --resource-pattern-type prefixed
# It shows operators how far the services are behind. To show other teams' groups too, let it describe those.
edge --operation Describe --group weir- --resource-pattern-type prefixed

# Integrity reads batches, and publishes what it has decided. Records that waited it appends to their log again.
integrity --operation Read --operation Write --topic weir.submitted. --resource-pattern-type prefixed
integrity --operation Write --topic weir.accepted. --resource-pattern-type prefixed
integrity --operation Write --topic weir.interactions --topic weir.rejected --topic weir.verdicts --topic weir.waiting
integrity --operation Read --group weir-integrity --resource-pattern-type prefixed

# The sink reads what was accepted, what was rejected and what waits; a message that cannot be decoded is set aside on weir.rejected.
sink --operation Read --topic weir.accepted. --resource-pattern-type prefixed
sink --operation Read --topic weir.interactions --topic weir.rejected --topic weir.waiting
sink --operation Write --topic weir.rejected
sink --operation Read --group weir-sink --resource-pattern-type prefixed

# Delivery is woken by verdicts, and reads the batches that webhooks are told of again. For a webhook that was away for long it reads the
# tables, and sees how far integrity and the sink have come. Persons who are to be forgotten it looks for in all topics, and takes their
# messages out: it appends messages without a value, and has the topics compacted for a while.
delivery --operation Read --operation Write --operation AlterConfigs --topic weir.submitted. --resource-pattern-type prefixed
delivery --operation Read --operation Write --operation AlterConfigs --topic weir.accepted. --resource-pattern-type prefixed
delivery --operation Read --operation Write --operation AlterConfigs --topic weir.interactions --topic weir.rejected
delivery --operation Read --operation Write --operation AlterConfigs --topic weir.verdicts --topic weir.waiting
delivery --operation Read --operation Write --topic weir.erasures
delivery --operation Read --operation Delete --group weir-reader- --resource-pattern-type prefixed
delivery --operation Read --group weir-delivery
delivery --operation Describe --group weir- --resource-pattern-type prefixed

# The operator makes topics and their settings (weir provision), reads them all, sees how far the services have come,
# publishes what is missing (weir verify --mend), and ends submitted topics (weir lanes change, weir accept-loss). The groups in which it reads it deletes.
operator --operation Create --operation Read --operation AlterConfigs --topic weir. --resource-pattern-type prefixed
operator --operation Write --topic weir.submitted. --resource-pattern-type prefixed
operator --operation Write --topic weir.accepted. --resource-pattern-type prefixed
operator --operation Write --topic weir.interactions --topic weir.rejected
operator --operation Describe --group weir- --resource-pattern-type prefixed
operator --operation Read --operation Delete --group weir-reader- --resource-pattern-type prefixed
END
}

echo=
if [ "${1-}" = --dry-run ]; then
  echo=echo
  shift
fi
if [ $# -eq 0 ]; then
  echo "which cluster? For instance: $0 --bootstrap-server kafka:9093 --command-config admin.properties" >&2
  exit 2
fi

rights | while read -r service right; do
  case $service in
    edge) principal=${EDGE_PRINCIPAL:-User:weir-edge} ;;
    integrity) principal=${INTEGRITY_PRINCIPAL:-User:weir-integrity} ;;
    sink) principal=${SINK_PRINCIPAL:-User:weir-sink} ;;
    delivery) principal=${DELIVERY_PRINCIPAL:-User:weir-delivery} ;;
    operator) principal=${OPERATOR_PRINCIPAL:-User:weir-operator} ;;
    *) continue ;;
  esac
  # shellcheck disable=SC2086
  $echo "${KAFKA_ACLS:-kafka-acls.sh}" "$@" --add --allow-principal "$principal" $right </dev/null
done
