// A reader follows a page from its top and pastes what stands there. So does this journey: every snippet as it is printed, in
// one terminal for each page, beside a system on the ports that the pages name.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { findBusyPorts } from '../../deploy/embedded/launcher/busy-ports.mjs'
import { readConfig } from '../../deploy/embedded/launcher/config.js'
import { cloneInto } from '../support/clone.js'
import { openPrivateNetwork } from '../support/private-network.js'
import { startWholeSystem } from '../support/system/whole-system.js'
import { isLeftOut } from './left-out.js'
import { openPythonPackages } from './python-packages.js'
import { errorsIn, pages, type Snippet, showsIn, snippetsOf } from './snippets.js'
import { openTerminal } from './terminal.js'

const folder = await mkdtemp(join(tmpdir(), 'weir-snippets-'))
// Kafka may write until its process has ended.
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))
const clone = join(folder, 'weir')

const place = await openPlace()
const python = await openPythonPackages(pages.flatMap((page) => snippetsOf(page)))

let reader: ReturnType<typeof openReadersPause>
beforeAll(async () => {
  if ('whyNot' in place) return
  const started = await startDocumentedSystem(place.enter)
  reader = openReadersPause(place.enter, started.system.env.KAFKA_BROKERS)
  return async () => {
    await reader.close()
    await started.stop()
    await place.close()
  }
})

const toRun = pages
  .map((page) => [page, snippetsOf(page).filter((snippet) => !isLeftOut(snippet))] as const)
  .filter(([, snippets]) => snippets.length > 0)

describe.each(toRun)('%s', (_, snippets) => {
  let terminal: ReturnType<typeof openTerminal>
  beforeAll(() => {
    if ('whyNot' in place) return
    terminal = openTerminal({ cwd: clone, folder, enter: place.enter, env: readersEnvironment() })
    return terminal.close
  })

  it.for(snippets.map((snippet) => [`line ${snippet.line}`, snippet] as const))(
    '%s',
    { timeout: 240_000 },
    async ([, snippet], test) => {
      skipWithoutMeans(snippet, test)
      const { page, line, prints = '' } = snippet
      await reader.pause()
      const { output, failed } = await terminal.run(snippet, (printed) => showsIn(prints, printed))
      const told = `${page}:${line} printed:\n${output}`
      expect(failed, told).toEqual([])
      expect(errorsIn(output, prints), told).toEqual([])
      expect(showsIn(prints, output), `${told}\nand the page shows:\n${prints}`).toBe(true)
    },
  )
})

/** A network of our own, where the documented ports are free; or this machine's, if they happen to be free there. */
async function openPlace(): Promise<{ enter: string[]; close: () => Promise<void> } | { whyNot: string }> {
  const network = await openPrivateNetwork()
  if ('enter' in network) return network
  const [busy] = await findBusyPorts(readConfig({}))
  return busy ? { whyNot: `${network.whyNot}; and here: ${busy}` } : { enter: [], close: async () => {} }
}

/** In a clone of its own, with nothing set that the pages do not set. */
async function startDocumentedSystem(enter: string[]) {
  await cloneInto(clone)
  const dataDir = join(clone, '.data')
  const { ports, addresses } = readConfig({})
  const unset = Object.fromEntries([...Object.keys(ports), ...Object.keys(addresses)].map((name) => [name, '']))
  return startWholeSystem({ clone, dataDir, inside: { dataDir, enter }, env: unset })
}

/** A reader takes a moment before the next snippet, in which what the last one sent arrives in ClickHouse. A test waits for that. */
function openReadersPause(enter: string[], brokers: string) {
  const program = `
    import { createInterface } from 'node:readline'
    import { untilQuiet } from './test/support/system/groups.ts'
    for await (const _ of createInterface(process.stdin)) {
      await untilQuiet('${brokers}')
      console.log('quiet')
    }`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', program]
  const [command = '', ...args] = [...enter, ...node]
  const waiting = spawn(command, args, { cwd: packageRoot, stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface(waiting.stdout)[Symbol.asyncIterator]()
  return {
    pause: async () => {
      waiting.stdin.write('\n')
      if ((await answers.next()).done) throw new Error('what was sent does not arrive')
    },
    close: async () => {
      waiting.stdin.end()
      await once(waiting, 'close')
    },
  }
}

/** What a login gives, without what npm and vitest add to it. A pipe is no terminal, so Python is told not to hold back lines. */
function readersEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', USER = '', LANG = '', TMPDIR = tmpdir() } = process.env
  const ownPath = PATH.split(':').filter((path) => !path.endsWith('node_modules/.bin'))
  const packages = 'env' in python ? python.env : {}
  return { PATH: ownPath.join(':'), HOME, USER, LANG, TMPDIR, PYTHONUNBUFFERED: '1', ...packages }
}

/** Ends the test as skipped, with the reason, where this machine lacks what a reader of the snippet has. */
function skipWithoutMeans({ language, text }: Snippet, { skip }: Pick<TestContext, 'skip'>): void {
  if ('whyNot' in place) skip(place.whyNot)
  if ('whyNot' in python && (language === 'python' || /\b(python3?|pip)\b/.test(text))) skip(python.whyNot)
  for (const command of ['curl', 'psql', 'Rscript'])
    if (new RegExp(`^ *${command}\\b`, 'm').test(text) && !isInstalled(command)) skip(`there is no ${command} here`)
}

function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}
