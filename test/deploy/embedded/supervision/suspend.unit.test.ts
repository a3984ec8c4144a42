import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { suspendProcesses } from '../../../../deploy/embedded/supervision/suspend.js'
import { eventually } from '../../../support/eventually.js'

const stateOf = (pid: number): string => {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2)[0] ?? ''
}

/** A process with a child that has a session of its own, as Postgres has them. */
const startTwo = async (): Promise<[parent: number, child: number]> => {
  const parent = spawn('sh', ['-c', 'setsid sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [text] = (await once(parent.stdout, 'data')) as [Buffer]
  const child = Number(text.toString())
  onTestFinished(() => {
    for (const pid of [child, parent.pid ?? 0]) process.kill(pid, 'SIGKILL')
  })
  return [parent.pid ?? 0, child]
}

const isLinux = process.platform === 'linux'

it.runIf(isLinux)('lets a process and its children stand still until they may go on', async () => {
  const [parent, child] = await startTwo()
  const suspended = await suspendProcesses([parent])
  expect([stateOf(parent), stateOf(child)]).toEqual(['T', 'T'])
  expect(suspended.allStandStill()).toBe(true)
  await suspended.resume()
  expect([stateOf(parent), stateOf(child)]).not.toContain('T')
  expect(suspended.allStandStill()).toBe(false)
})

it.runIf(isLinux)('lets them go on when the one who stopped them is killed', async () => {
  const [parent, child] = await startTwo()
  const source = pathToFileURL(`${packageRoot}/deploy/embedded/supervision/suspend.ts`).href
  const program = `
    const { suspendProcesses } = await import('${source}')
    await suspendProcesses([${parent}])
    process.stdout.write('suspended')
    setInterval(() => {}, 1000)`
  const backup = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: packageRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(backup.stdout, 'data')
  expect([stateOf(parent), stateOf(child)]).toEqual(['T', 'T'])
  backup.kill('SIGKILL')
  await eventually(() => expect([stateOf(parent), stateOf(child)]).not.toContain('T'))
})
