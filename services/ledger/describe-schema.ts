import { type Database, rowsOf } from '#platform/postgres/rows.js'

/**
 * The schemas, sequences, tables, indexes, functions and triggers of a database as SQL that makes the same ones in an empty database,
 * with the database's own comments. `npm run publish-schemas` keeps it in schemas/published/postgres.sql, for people who want
 * to see what all the migrations together have made. Throws where the database holds something that it cannot describe.
 */
export const describeSchema = async (db: Database): Promise<string> => {
  await refuseUnknownKinds(db)
  const namesIn = async (sql: string) => (await rowsOf<{ name: string }>(db, sql)).map(({ name }) => name)
  const schemas = await namesIn(ourSchemas)
  const sequences = await namesIn(ourSequences)
  const tables = await rowsOf<Named>(db, ourTables)
  const columns = await rowsOf<Column>(db, ourColumns)
  const constraints = await rowsOf<OfTable>(db, ourConstraints)
  const indexes = await rowsOf<OfTable>(db, ourIndexes)
  const functions = await rowsOf<Routine>(db, ourFunctions)
  const triggers = await rowsOf<{ routine: string; sql: string }>(db, ourTriggers)

  const createTable = ({ name, comment }: Named): string => {
    const lines = [
      ...columns.filter(({ table }) => table === name).map((column) => [column.comment, toColumn(column)]),
      ...constraints.filter(({ table }) => table === name).map(({ sql }) => [null, toLowerCase(sql)]),
    ]
    const body = lines.map(([about, line], i) => {
      const comma = i < lines.length - 1 ? ',' : ''
      return `${asComment(about ?? null, '  ')}  ${line}${comma}\n`
    })
    const ownIndexes = indexes.filter(({ table }) => table === name).map(({ sql }) => `${toLowerCase(sql)};\n`)
    return [`${asComment(comment)}create table ${name} (\n${body.join('')});\n`, ...ownIndexes].join('')
  }
  const createFunction = ({ name, comment, sql }: Routine): string => {
    const own = triggers.filter(({ routine }) => routine === name).map((trigger) => `${toTrigger(trigger.sql)};\n`)
    return [`${asComment(comment)}${toFunction(sql)};\n`, ...own].join('')
  }
  return [
    asComment(header),
    schemas.map((name) => `create schema ${name};\n`).join(''),
    ...(sequences.length > 0 ? [sequences.map((name) => `create sequence ${name};\n`).join('')] : []),
    ...tables.map(createTable),
    ...functions.map(createFunction),
  ].join('\n')
}

const header =
  'The tables of Weir in Postgres, as the migrations in services/ledger/migrations leave them. ' +
  'Derived by services/ledger/describe-schema.ts; to write it anew: npm run publish-schemas'

type Named = { name: string; comment: string | null }
type Column = Named & { table: string; type: string; is_required: boolean; default_value: string | null }
type Routine = Named & { sql: string }
type OfTable = { table: string; sql: string }

const toColumn = ({ name, type, is_required, default_value }: Column): string =>
  [name, type, ...(is_required ? ['not null'] : []), ...(default_value === null ? [] : [`default ${default_value}`])]
    .join(' ')
    .replaceAll(/timestamp(\(\d\))? with time zone/g, 'timestamptz$1')

// Postgres gives each attribute of a function a line of its own, before the body.
const toFunction = (sql: string): string => {
  const [head = '', ...body] = sql.trimEnd().split('\nAS ')
  const oneLine = head.replace('CREATE OR REPLACE', 'CREATE').replaceAll(/\s+/g, ' ')
  return toLowerCase([oneLine, ...body].join(' as '))
}

const toTrigger = (sql: string): string =>
  toLowerCase(sql.replace(/ (AFTER|BEFORE) /, '\n$1 ').replace(' FOR EACH ROW', '\nFOR EACH ROW'))

// Postgres writes keywords in capitals. What stands in quotes or between dollar signs is not its own and stays as it is.
const toLowerCase = (sql: string): string =>
  sql.replaceAll(/\$(\w*)\$.*?\$\1\$|'[^']*'|"[^"]*"|[^$'"]+/gs, (part) =>
    /^[$'"]/.test(part) ? part : part.toLowerCase(),
  )

const longestLine = 120

const asComment = (text: string | null, indent = ''): string => {
  if (text === null) return ''
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= longestLine) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent}-- ${word}`)
  }
  return lines.map((line) => `${line}\n`).join('')
}

// Everything but Postgres's own schemas and the tables in which node-pg-migrate notes what has run.
const isOurs = (relation: string): string => `
  ${relation}.relnamespace::regnamespace::text !~ '^(pg_|information_schema$)' and ${relation}.relname !~ '^migrations_'`

// One that belongs to no column, and counts from 1 in steps of 1.
const isPlainSequence = `(
  c.relkind = 'S' and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i'))
  and exists (select from pg_sequence s where s.seqrelid = c.oid and s.seqstart = 1 and s.seqincrement = 1 and not s.seqcycle)
)`

const refuseUnknownKinds = async (db: Database): Promise<void> => {
  const unknown = await rowsOf<{ name: string }>(db, unknownKinds)
  if (unknown.length > 0)
    throw new Error(`describe-schema.ts cannot describe ${unknown.map(({ name }) => name).join(', ')}`)
}

const unknownKinds = `
  select c.oid::regclass::text as name
  from pg_class c
  where ${isOurs('c')} and c.relkind not in ('r', 'i') and not ${isPlainSequence}
  union all
  select a.attrelid::regclass || '.' || a.attname
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  where ${isOurs('c')} and a.attnum > 0 and (a.attidentity <> '' or a.attgenerated <> '')
  union all
  select t.oid::regtype::text
  from pg_type t
  where t.typnamespace::regnamespace::text !~ '^(pg_|information_schema$)' and t.typtype not in ('b', 'c')
  order by 1`

const ourSchemas = `
  select nspname as name
  from pg_namespace
  where nspname !~ '^(pg_|information_schema$|public$)'
  order by nspname`

const ourSequences = `
  select c.oid::regclass::text as name
  from pg_class c
  where ${isOurs('c')} and ${isPlainSequence}
  order by c.oid::regclass::text`

// Within a schema in the order in which they were made, so that a table comes after those that it refers to.
const ourTables = `
  select c.oid::regclass::text as name, obj_description(c.oid, 'pg_class') as comment
  from pg_class c
  where ${isOurs('c')} and c.relkind = 'r'
  order by c.relnamespace::regnamespace::text, c.oid`

const ourColumns = `
  select c.oid::regclass::text as table, quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as is_required, pg_get_expr(d.adbin, d.adrelid) as default_value,
    col_description(c.oid, a.attnum) as comment
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where ${isOurs('c')} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  order by c.oid, a.attnum`

// Primary keys first. "Not null" is a constraint too, and stands with its column.
const ourConstraints = `
  select c.oid::regclass::text as table,
    format('constraint %I %s', n.conname, pg_get_constraintdef(n.oid, true)) as sql
  from pg_constraint n
  join pg_class c on c.oid = n.conrelid
  where ${isOurs('c')} and n.contype not in ('n', 't')
  order by c.oid, n.contype <> 'p', n.conname`

// The index behind a primary key or a unique constraint is made with that.
const ourIndexes = `
  select c.oid::regclass::text as table, replace(pg_get_indexdef(i.indexrelid, 0, true), ' USING btree', '') as sql
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  where ${isOurs('c')}
    and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
  order by c.oid, i.indexrelid::regclass::text`

const ourFunctions = `
  select p.oid::regproc::text as name, pg_get_functiondef(p.oid) as sql, obj_description(p.oid, 'pg_proc') as comment
  from pg_proc p
  where p.pronamespace::regnamespace::text !~ '^(pg_|information_schema$)'
  order by p.oid::regprocedure::text`

const ourTriggers = `
  select t.tgfoid::regproc::text as routine, pg_get_triggerdef(t.oid, true) as sql
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  where ${isOurs('c')} and not t.tgisinternal
  order by c.oid, t.tgname`
