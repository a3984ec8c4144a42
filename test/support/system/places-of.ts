import { pino } from 'pino'
import { createClickHouse } from '#platform/clickhouse.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { createPool } from '#platform/postgres/postgres.js'

/** Wherever these ids stand: messages of all topics, rows of an organisation in all tables of ClickHouse, rows of all tables of Postgres. */
export const placesOf = async (
  system: { KAFKA_BROKERS: string; POSTGRES_URL: string; CLICKHOUSE_URL: string },
  org: string,
  ids: readonly string[],
): Promise<string[]> => {
  const log = pino({ level: 'silent' })
  const kafka = createKafka({ brokers: system.KAFKA_BROKERS, clientId: 'places-of', log })
  const analyst = createClickHouse(system.CLICKHOUSE_URL)
  const pool = createPool(system.POSTGRES_URL, log, 1)
  const places = new Set<string>()
  const isIn = (text: string) => ids.some((id) => text.toLowerCase().includes(id.toLowerCase()))
  const topics = await kafka.withAdmin((admin) => admin.listTopics())
  const own = topics.filter((topic) => topic.startsWith('weir.') && topic !== 'weir.canary')
  await readTopics(kafka, await stretchesOf(kafka, own), async ({ topic, messages }) => {
    for (const { key, value } of messages) if (isIn(`${key} ${value?.toString('latin1') ?? ''}`)) places.add(topic)
  })
  const tables = await analyst.query<{ name: string }>(
    `select name from system.tables where database = 'weir' and engine like '%MergeTree%'
    and name in (select table from system.columns where database = 'weir' and name = 'org_id')`,
  )
  for (const { name } of tables)
    if (isIn(JSON.stringify(await analyst.query(`select * from weir.${name} where org_id = {org:String}`, { org }))))
      places.add(`clickhouse ${name}`)
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  for (const { name } of rows) {
    const found = await pool.query(
      `select from ${name} t where exists (
        select from unnest($1::text[]) id
        where position(id in lower(t::text)) > 0 or position(encode(convert_to(id, 'UTF8'), 'hex') in t::text) > 0
      ) limit 1`,
      [ids],
    )
    if (found.rowCount) places.add(`postgres ${name}`)
  }
  await pool.end()
  await analyst.close()
  return [...places].sort()
}
