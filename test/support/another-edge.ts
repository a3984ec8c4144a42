import { execa } from 'execa'
import { expect } from 'vitest'
import { freePorts } from '../../deploy/embedded/free-port.js'
import { answersHttp } from '../../deploy/embedded/parts/answers-http.js'
import { eventually } from './eventually.js'
import { system } from './system.js'

type LogLine = { msg: string }

/** A further edge of the running system, told other things than the first. */
export const startEdge = async (env: Record<string, string>) => {
  const [port = 0] = await freePorts(1)
  const edge = execa(process.execPath, ['dist/services/edge/main.js'], {
    env: { ...system.env, EDGE_PORT: String(port), ...env },
    reject: false,
  })
  const output: string[] = []
  edge.stdout.on('data', (text: Buffer) => output.push(text.toString()))
  const url = `${env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    edge.kill('SIGTERM')
    expect((await edge).exitCode).toBe(0)
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
  return { url, port, pid: edge.pid ?? 0, logged, stop }
}
