// Java spends half of its start on reading and checking classes. It can keep them as they lie in its memory, in a file that it maps
// at the next start ("class data sharing"): Kafka then takes 2.8 s of a core and not 4.4, the registry 2.4 and not 5.2. The set-up
// runs this program once: it starts each part on an empty folder and stops it, and Java writes the file when it ends.
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSupervisor, type ProcessDefinition } from '../supervision/supervisor.js'
import { archiveOf, type JavaPart } from './java.js'
import { kafkaPart } from './kafka.js'
import { freePorts } from './ports.js'
import { registryPart } from './registry.js'

const [kafkaPort = 0, registryPort = 0] = await freePorts(2)
const dataDir = await mkdtemp(join(tmpdir(), 'weir-classes-'))
const supervisor = createSupervisor({ dataDir, report: (line) => process.stderr.write(`${line}\n`) })

/** Where Java writes it: an archive that is not whole must never be used. */
const unfinished = (part: JavaPart): string => join(dataDir, `${part}.jsa`)

/** Java writes no archive while a debugger agent is loaded, as Kafka's is (kafka.ts), nor while it uses an older one. */
const writing = (part: JavaPart, definition: ProcessDefinition): ProcessDefinition => ({
  ...definition,
  args: [`-XX:ArchiveClassesAtExit=${unfinished(part)}`, ...definition.args.filter((word) => !isForeign.test(word))],
})
const isForeign = /^-agentlib:|^-XX:SharedArchiveFile=/

try {
  try {
    await supervisor.start([
      writing('kafka', kafkaPart({ dataDir, port: kafkaPort })),
      writing('registry', await registryPart({ dataDir, port: registryPort })),
    ])
  } finally {
    await supervisor.stop()
  }
  for (const part of ['kafka', 'registry'] as const) {
    await copyFile(unfinished(part), `${archiveOf(part)}.next`)
    await rename(`${archiveOf(part)}.next`, archiveOf(part))
  }
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
