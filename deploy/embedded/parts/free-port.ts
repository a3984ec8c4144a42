import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that outgoing connections are given (from 32768 on in Linux, higher elsewhere): one of those could take the
// port before its server starts, or while that server is being started again.
const lowest = 20_000
const highest = 32_000

// Onwards from a random place: another process that looks for ports at the same time looks elsewhere.
let next = randomInt(lowest, highest)

/** Ports that nobody listens on right now. None is given twice by one process, unless it has asked for thousands. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = []
  while (ports.length < count) {
    const port = next
    next = port === highest ? lowest : port + 1
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  await once(server.close(), 'close')
  return true
}
