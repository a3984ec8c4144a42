#!/usr/bin/env node
// Stands in for Kafka's own kafka-acls.sh, which is not among the jars that are downloaded: takes the words that
// deploy/kafka-acls.sh uses, and gives the same rights on a real broker.
import { parseArgs } from 'node:util'
import kafkajs from 'kafkajs'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } = kafkajs
const { values } = parseArgs({
  options: {
    'bootstrap-server': { type: 'string' },
    add: { type: 'boolean' },
    'allow-principal': { type: 'string' },
    operation: { type: 'string', multiple: true, default: [] },
    topic: { type: 'string', multiple: true, default: [] },
    group: { type: 'string', multiple: true, default: [] },
    'resource-pattern-type': { type: 'string', default: 'literal' },
  },
})
const numberOf = (types, word) => {
  const name = word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
  if (types[name] === undefined) throw new Error(`unknown: ${word}`)
  return types[name]
}
const resources = [
  ...values.topic.map((name) => ({ resourceType: AclResourceTypes.TOPIC, resourceName: name })),
  ...values.group.map((name) => ({ resourceType: AclResourceTypes.GROUP, resourceName: name })),
]
const acl = resources.flatMap((resource) =>
  values.operation.map((operation) => ({
    ...resource,
    resourcePatternType: numberOf(ResourcePatternTypes, values['resource-pattern-type']),
    principal: values['allow-principal'],
    host: '*',
    operation: numberOf(AclOperationTypes, operation),
    permissionType: AclPermissionTypes.ALLOW,
  })),
)
if (!values.add || acl.length === 0) throw new Error('only --add is known, with an operation and a topic or group')
const admin = new Kafka({ brokers: [values['bootstrap-server']], logLevel: logLevel.NOTHING }).admin()
await admin.connect()
try {
  await admin.createAcls({ acl })
} finally {
  await admin.disconnect()
}
