// Writes the derived files of schemas/published/, the clients, docs/ and the Helm chart. With --check it only fails where one is stale.
// With --against it writes nothing and says what changes for whom since a tag, a commit or the state in a folder; with --check as well, it
// fails where a change breaks something.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { describeSchema } from '#ledger/describe-schema.js'
import { migrate } from '#ledger/migrate.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { modelPicture } from '#schemas/derive/for-analysts/model-picture.js'
import { examplesFile } from '#schemas/derive/for-analysts/worked-questions.js'
import { martsPage } from '#schemas/derive/marts-page.js'
import { clientFiles, publishedFiles } from '#schemas/derive/published.js'
import { changesBetween, writeChanges } from './changes/changes.js'
import { publishedAt, publishedHere } from './changes/read-published.js'
import { dataInventoryPage } from './data-inventory.js'
import { freePorts } from './embedded/servers/ports.js'
import { postgresPart } from './embedded/servers/postgres.js'
import { createSupervisor } from './embedded/supervision/supervisor.js'
import { settingsByReader, valuesSchema } from './helm/values-schema.js'
import { metricsPage } from './observability/figures.js'
import { grafanaFiles } from './observability/grafana.js'
import { martDashboard } from './observability/mart-panels.js'
import { dashboards } from './observability/panels.js'
import { asyncTwinOf } from './python-twin.js'
import { fieldVersionsFile, fieldVersionsPath, releasedFieldVersions } from './release/field-versions.js'
import { knownVariablesFile, settingsPage } from './settings-page.js'

/** Runs the migrations in an empty database of this server, describes what they make, and drops the database. */
const describeMigrated = async (serverUrl: string): Promise<string> => {
  const name = `weir_schema_${randomBytes(4).toString('hex')}`
  const database = new URL(serverUrl)
  database.pathname = `/${name}`
  const withPool = async <T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> => {
    const pool = createPool(url, pino({ level: 'silent' }), 1)
    return work(pool).finally(() => pool.end())
  }
  await withPool(serverUrl, (pool) => pool.query(`create database ${name}`))
  try {
    await migrate(database.href)
    return await withPool(database.href, describeSchema)
  } finally {
    await withPool(serverUrl, (pool) => pool.query(`drop database ${name} with (force)`))
  }
}

/** A Postgres of its own for as long as the work takes. */
const withEmbeddedPostgres = async <T>(work: (serverUrl: string) => Promise<T>): Promise<T> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-schema-'))
  const supervisor = createSupervisor({ dataDir, report: (line) => process.stderr.write(`${line}\n`) })
  try {
    const [port = 0] = await freePorts(1)
    await supervisor.start([await postgresPart({ dataDir, port })])
    return await work(`postgres://weir:weir@127.0.0.1:${port}/weir`)
  } finally {
    await supervisor.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const publish = async (check: boolean): Promise<void> => {
  const { POSTGRES_URL } = process.env
  const postgresSql = POSTGRES_URL ? await describeMigrated(POSTGRES_URL) : await withEmbeddedPostgres(describeMigrated)

  const folder = 'schemas/published'
  mkdirSync(join(packageRoot, folder), { recursive: true })

  const published = publishedFiles(catalogue).set('postgres.sql', postgresSql)
  const wanted = new Map([
    ...[...published].map(([name, text]): [string, string] => [join(folder, name), text]),
    ...clientFiles(catalogue),
    [
      'clients/python/src/weir_client/aio.py',
      asyncTwinOf(readFileSync(join(packageRoot, 'clients/python/src/weir_client/client.py'), 'utf8')),
    ],
    ['docs/settings.md', settingsPage()],
    ['docs/data-inventory.md', dataInventoryPage()],
    [
      'clients/console/pages/sql/examples.ts',
      examplesFile(readFileSync(join(packageRoot, 'docs/for-analysts.md'), 'utf8')),
    ],
    ['deploy/helm/weir/values.schema.json', valuesSchema()],
    ['deploy/helm/weir/settings.json', settingsByReader()],
    ['services/operator/doctor/known-variables.ts', knownVariablesFile()],
    [
      fieldVersionsPath,
      fieldVersionsFile(releasedFieldVersions(catalogue, readFileSync(join(packageRoot, 'CHANGELOG.md'), 'utf8'))),
    ],
    ['docs/metrics.md', metricsPage()],
    ['docs/marts.md', martsPage()],
    ['docs/model.svg', modelPicture(catalogue)],
    ...grafanaFiles(dashboards, [martDashboard]),
  ])
  const present = readdirSync(join(packageRoot, folder)).map((name) => join(folder, name))
  const textOf = (path: string): string | undefined =>
    existsSync(join(packageRoot, path)) ? readFileSync(join(packageRoot, path), 'utf8') : undefined
  const stale = [...wanted].filter(([path, text]) => textOf(path) !== text).map(([path]) => path)
  const extra = present.filter((path) => !wanted.has(path))

  if (check) {
    if (stale.length + extra.length > 0) {
      console.error(`stale: ${[...stale, ...extra].join(', ')}; run: npm run publish-schemas`)
      process.exitCode = 1
    } else console.log(`the derived files are up to date (${wanted.size} files)`)
  } else {
    for (const path of stale) writeFileSync(join(packageRoot, path), wanted.get(path) ?? '')
    for (const path of extra) rmSync(join(packageRoot, path))
    console.log(`${stale.length} files written, ${extra.length} removed, ${wanted.size} in all`)
  }
}

const showChanges = (against: string, { check, json }: { check: boolean; json: boolean }): void => {
  const before = publishedAt(against)
  if (!before) {
    console.error(
      `there is no tag, commit or folder ${against} that has schemas/published; git tag shows the tags of this clone`,
    )
    process.exitCode = 2
    return
  }
  const changes = changesBetween(before, publishedHere())
  console.log(json ? JSON.stringify({ against, changes }, null, 2) : writeChanges(against, changes))
  if (check && changes.some(({ breaking }) => breaking)) process.exitCode = 1
}

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
if (values.against === undefined) await publish(values.check)
else showChanges(values.against, values)
