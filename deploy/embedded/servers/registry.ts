import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import { archiveOptions, jarsDir, javaCommand, javaEnvironment, javaOptions, lightJava } from './java.js'
import { answersHttp } from './ports.js'

/** Apicurio Registry, which speaks Confluent's API under /apis/ccompat/v7. Its data is in <dataDir>/registry. */
export const registryPart = async (options: { dataDir: string; port: number }): Promise<ProcessDefinition> => {
  const home = join(options.dataDir, 'registry')
  const runner = (await readdir(jarsDir('registry'))).find((name) => name.endsWith('-runner.jar'))
  if (runner === undefined) throw new Error(`no runner jar in ${jarsDir('registry')}; remove .parts and start again`)
  return {
    name: 'registry',
    port: options.port,
    command: javaCommand(process.env.JAVA_HOME),
    args: [
      '-Xmx256m',
      ...lightJava,
      ...javaOptions,
      ...archiveOptions('registry'),
      '-Dquarkus.http.host=127.0.0.1',
      `-Dquarkus.http.port=${options.port}`,
      '-jar',
      join(jarsDir('registry'), runner),
    ],
    env: {
      ...javaEnvironment,
      // By default the H2 database writes half a second after it answered, but a schema id that was handed out must survive a kill.
      REGISTRY_DATASOURCE_URL: `jdbc:h2:file:${join(home, 'registry')};WRITE_DELAY=0`,
    },
    prepare: async () => {
      await mkdir(home, { recursive: true })
    },
    isReady: () => answersHttp(`http://127.0.0.1:${options.port}/apis/ccompat/v7/subjects`),
    neededBy: ['edge', 'integrity', 'sink', 'delivery'],
  }
}
