import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { inNamespaceOf, inNewNamespace } from './namespace.js'

export type SmallDisk = Awaited<ReturnType<typeof mountSmallDisk>>

/** Where no disk could be mounted: why, in one line. */
export type NoDisk = { whyNot: string }

/**
 * A disk of its own, in memory, that a test can fill and make read-only. Root mounts one for all to see; any other user mounts
 * one in a namespace, where the system allows that.
 */
export const openSmallDisk = async (mebibytes: number): Promise<SmallDisk | NoDisk> => {
  if (process.platform !== 'linux') return { whyNot: 'no disk to fill: only Linux has disks in memory' }
  const mountPoint = await mkdtemp(join(tmpdir(), 'weir-disk-'))
  const keeper = startKeeper(mountPoint)
  try {
    return await mountSmallDisk(keeper, mountPoint, mebibytes)
  } catch (error) {
    await keeper.end()
    return { whyNot: `no disk to fill: ${(error as Error).message}` }
  }
}

/** The disk; or the end of this test as skipped, with the reason. */
export const diskOrSkip = (disk: SmallDisk | NoDisk, { skip }: Pick<TestContext, 'skip'>): SmallDisk =>
  'whyNot' in disk ? skip(disk.whyNot) : disk

const mountSmallDisk = async (keeper: Keeper, mountPoint: string, mebibytes: number) => {
  await keeper.run(`mount -t tmpfs -o size=${mebibytes}m weir "$1"`)
  const disk = `${keeper.root}${mountPoint}`
  const dataDir = join(disk, 'data')
  await mkdir(dataDir)
  const fillers: string[] = []
  let isFull = false
  let filling: Promise<void> = Promise.resolve()

  // What others give up, a dying Kafka for one, is taken too.
  const keepFull = async (): Promise<void> => {
    for (; isFull; await wait(100)) {
      const file = join(disk, `filler.${fillers.length}`)
      fillers.push(file)
      await fillWith(file)
    }
  }

  return {
    dataDir,
    /** For programs that look up the true name of a folder, as ClickHouse does: a place where the disk has one. */
    inside: { dataDir: `${mountPoint}/data`, enter: keeper.enter },
    fill: () => {
      isFull = true
      filling = keepFull()
    },
    free: async () => {
      isFull = false
      await filling
      for (const file of fillers.splice(0)) await rm(file, { force: true })
    },
    /** For all that is opened from now on, as a disk with an error becomes; the kernel refuses it for what is open already. */
    makeReadOnly: async () => {
      await keeper.run('mount --bind "$1/data" "$1/data"')
      await keeper.run('mount -o remount,bind,ro "$1/data"')
    },
    makeWritable: () => keeper.run('umount --lazy "$1/data"'),
    close: async () => {
      isFull = false
      await filling
      await keeper.end()
    },
  }
}

type Keeper = ReturnType<typeof startKeeper>

/**
 * A shell that mounts, and that unmounts and removes the mount point when its input ends: also when this process is killed. It
 * has a session of its own, which Ctrl-C does not reach. The mount point is its $1.
 */
const startKeeper = (mountPoint: string) => {
  const isRoot = process.getuid?.() === 0
  const script = `while read -r line; do eval "$line" 2>&1; echo "ended $?"; done
    umount --lazy "$1" 2>/dev/null; rmdir "$1"`
  const [command = '', ...args] = [
    ...(isRoot ? [] : inNewNamespace('mount')),
    ...['sh', '-c', script, 'sh', mountPoint],
  ]
  const shell = spawn(command, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(shell, 'close').catch(() => undefined)
  // A shell that could not be started takes no input; `run` then gets no answer, and says why.
  shell.stdin.on('error', () => {})
  let complaint = ''
  shell.stderr.on('data', (text: Buffer) => {
    complaint += text
  })
  shell.on('error', (error) => {
    complaint += error.message
  })
  const answers = createInterface(shell.stdout)[Symbol.asyncIterator]()

  return {
    /** Where others find the files that the shell sees: a mount in its namespace is there for no one else. */
    root: isRoot ? '' : `/proc/${shell.pid}/root`,
    /** Put before a command, these run it where the shell's mount is seen; from the same folder as ever. */
    enter: isRoot ? [] : [...inNamespaceOf(shell.pid ?? 0, 'mount'), 'env', `--chdir=${process.cwd()}`],
    run: async (line: string): Promise<void> => {
      shell.stdin.write(`${line}\n`)
      const said: string[] = []
      for (;;) {
        const { value, done } = await answers.next()
        if (done) {
          await ended
          throw new Error(complaint.trim())
        }
        if (value === 'ended 0') return
        if (value.startsWith('ended ')) throw new Error(said.join(' '))
        said.push(value.trim())
      }
    },
    end: async (): Promise<void> => {
      shell.stdin.end()
      await ended
      await rm(mountPoint, { recursive: true, force: true })
    },
  }
}

/** Writes until there is no room for a single byte more. */
const fillWith = (file: string): Promise<void> =>
  new Promise((resolve) => {
    const stream = createWriteStream(file)
    stream.once('error', () => resolve())
    const zeros = Buffer.alloc(64 * 1024)
    const write = () => {
      while (stream.writable && stream.write(zeros));
      stream.once('drain', write)
    }
    write()
  })
