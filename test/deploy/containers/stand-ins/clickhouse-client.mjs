#!/usr/bin/env node
// The few options of clickhouse-client that docker-compose.yml uses, over HTTP.
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const { values } = parseArgs({ options: { user: text, password: text, query: text } })
const answer = await fetch('http://clickhouse:8123/', {
  method: 'POST',
  headers: { 'X-ClickHouse-User': values.user, 'X-ClickHouse-Key': values.password },
  body: values.query,
})
process.stdout.write(await answer.text())
process.exitCode = answer.ok ? 0 : 1
