import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { inNamespaceOf, inNewNamespace } from './namespace.js'

export type PrivateNetwork = {
  /** Put before a command, these run it in the network. */
  enter: string[]
  /** Of the process whose network it is. */
  pid: number
  close: () => Promise<void>
}

/**
 * A loopback network of its own, on which every port is free, for root and for users who may make namespaces; elsewhere the
 * reason why there is none. It has no way out.
 */
export const openPrivateNetwork = async (): Promise<PrivateNetwork | { whyNot: string }> => {
  if (process.platform !== 'linux') return { whyNot: 'only Linux has private networks' }
  const [command = '', ...args] = inNewNamespace('net')
  // The network lives for as long as this shell: until its input ends, also when this process is killed.
  const keeper = spawn(
    command,
    [...args, 'sh', '-c', 'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && echo up && cat'],
    { detached: true },
  )
  let complaint = ''
  keeper.stderr.on('data', (text: Buffer) => {
    complaint += text
  })
  keeper.on('error', (error) => {
    complaint += error.message
  })
  const ended = once(keeper, 'close').catch(() => undefined)
  const { done } = await createInterface(keeper.stdout)[Symbol.asyncIterator]().next()
  const close = async (): Promise<void> => {
    keeper.stdin.end()
    await ended
  }
  const { pid = 0 } = keeper
  if (!done) return { enter: inNamespaceOf(pid, 'net'), pid, close }
  await ended
  return { whyNot: `no private network: ${complaint.trim()}` }
}
