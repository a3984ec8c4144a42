import { execa } from 'execa'
import { expect } from 'vitest'
import { answersHttp, freePorts } from '../../../deploy/embedded/servers/ports.js'
import { eventually } from '../eventually.js'
import { system } from './system.js'

export type ServiceName = 'edge' | 'integrity' | 'sink' | 'delivery'
type LogLine = { msg: string }

/** A further process of a service of the running system, with variables that differ from those of the first. */
export const startService = async (name: ServiceName, env: Record<string, string> = {}) => {
  const [port = 0] = await freePorts(1)
  const service = execa(process.execPath, [`dist/services/${name}/main.js`], {
    env: { ...system.env, [`${name.toUpperCase()}_PORT`]: String(port), ...env },
    reject: false,
    // A stop may take its 10 s.
    forceKillAfterDelay: false,
  })
  const output: string[] = []
  service.stdout.on('data', (text: Buffer) => output.push(text.toString()))
  const url = `${env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    service.kill('SIGTERM')
    expect((await service).exitCode, output.join('')).toBe(0)
  }
  try {
    await eventually(async () => expect(await answersHttp(`${url}/readyz`), output.join('')).toBe(true), 60_000)
  } catch (error) {
    await stop()
    throw error
  }
  const logged = (): LogLine[] =>
    output
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { url, port, pid: service.pid ?? 0, logged, stop }
}

/** The same, of the edge. */
export const startEdge = (env: Record<string, string>) => startService('edge', env)
