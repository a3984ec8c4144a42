import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '#platform/process/package-root.js'
import type { ProcessDefinition } from '../supervision/process-definition.js'
import { answersKafka } from './answers-kafka.js'
import { freePorts } from './free-port.js'
import { jarsDir, javaCommand } from './java.js'
import { type Behind, kafkaProperties } from './kafka-properties.js'

/**
 * Kafka writes its indexes through memory. Where a full disk has no room for a page of one, Java throws an InternalError, which
 * Kafka takes for the fault of that one request: every later write to the partition fails, yet lands in the log with an offset
 * that is there already, and a Kafka that is started again deletes such a log. So Java's debugger agent, which is there at no
 * cost until that error is thrown, ends Kafka in the middle of the first such write.
 */
const endAtDiskFault = `-agentlib:jdwp=${[
  'transport=dt_socket',
  'address=127.0.0.1:0',
  'server=y',
  'onthrow=java.lang.InternalError',
  'launch=end-kafka.sh',
].join(',')}`

/** Apache Kafka, one KRaft node. Its data is in <dataDir>/kafka. */
export const kafkaPart = (options: { dataDir: string; port: number; behind?: Behind }): ProcessDefinition => {
  const { dataDir, port, behind } = options
  const home = join(dataDir, 'kafka')
  const logDir = join(home, 'log')
  const propertiesFile = join(home, 'server.properties')
  const java = javaCommand(process.env.JAVA_HOME)
  const classes = [
    `-Dlog4j2.configurationFile=${join(packageRoot, 'deploy/embedded/parts/log4j2.properties')}`,
    '-cp',
    join(jarsDir('kafka'), '*'),
  ]

  return {
    name: 'kafka',
    port,
    command: java,
    // Idle it takes 350 MB; the bound leaves room for a few requests of the largest size.
    args: [
      '-Xms256m',
      '-Xmx768m',
      '-XX:+ExitOnOutOfMemoryError',
      endAtDiskFault,
      ...classes,
      'kafka.Kafka',
      propertiesFile,
    ],
    env: { PATH: [join(packageRoot, 'deploy/embedded/parts'), process.env.PATH].join(delimiter) },
    prepare: async () => {
      await mkdir(home, { recursive: true })
      const [controllerPort = 0] = await freePorts(1)
      await writeFile(propertiesFile, kafkaProperties({ port, controllerPort, logDir, behind }))
      if (existsSync(join(logDir, 'meta.properties'))) return
      // With `=`: one id in 64 begins with a hyphen, and would be taken for an option.
      const format = ['format', '--ignore-formatted', `--cluster-id=${await clusterId(home)}`, '-c', propertiesFile]
      await promisify(execFile)(java, [...classes, 'kafka.tools.StorageTool', ...format], { maxBuffer: 16 << 20 })
    },
    isReady: () => answersKafka(port),
  }
}

/** Made once: formatting that was interrupted goes on with the same id. */
const clusterId = async (home: string): Promise<string> => {
  const file = join(home, 'cluster-id')
  if (!existsSync(file)) await writeFile(file, randomBytes(16).toString('base64url'))
  return (await readFile(file, 'utf8')).trim()
}
