import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'

export type SmallDisk = Awaited<ReturnType<typeof openSmallDisk>>

/** A disk of its own, in memory, that a test can fill and make read-only. To mount one takes root on Linux. */
export const openSmallDisk = async (mebibytes: number) => {
  const mountPoint = await mkdtemp(join(tmpdir(), 'weir-disk-'))
  await mount(['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'weir', mountPoint])
  const dataDir = join(mountPoint, 'data')
  await mkdir(dataDir)
  const fillers: string[] = []
  let isFull = false
  let filling: Promise<void> = Promise.resolve()

  // What others give up, a dying Kafka for one, is taken too.
  const keepFull = async (): Promise<void> => {
    for (; isFull; await wait(100)) {
      const file = join(mountPoint, `filler.${fillers.length}`)
      fillers.push(file)
      await fillWith(file)
    }
  }

  return {
    dataDir,
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
      await mount(['--bind', dataDir, dataDir])
      await mount(['-o', 'remount,bind,ro', dataDir])
    },
    makeWritable: async () => {
      await execa('umount', ['--lazy', dataDir])
    },
    close: async () => {
      await execa('umount', ['--recursive', '--lazy', mountPoint])
      await rm(mountPoint, { recursive: true })
    },
  }
}

const mount = async (args: string[]): Promise<void> => {
  try {
    await execa('mount', args)
  } catch (cause) {
    throw new Error(
      "this test fills a disk of its own, and could not mount one: run it as root on Linux, or leave it out by npm test -- --exclude '**/*disk*' --exclude '**/data-folder*'",
      { cause },
    )
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
