import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '#platform/process/package-root.js'
import { eventually } from '../../support/eventually.js'

export type Engine = {
  /** Runs `docker …`, and says what it printed. */
  docker: (...words: string[]) => Promise<string>
  /** Where it reaches a registry of images, the official ones are used. */
  hasOfficialImages: boolean
  env: NodeJS.ProcessEnv
  close: () => Promise<void>
}
export type NotHere = { whyNot: string }

const script = (name: string): string => join(packageRoot, 'deploy/containers', name)
/** By which the scripts say that this machine cannot do it, and not that something failed. */
export const cannotHere = 69

/** The machine's engine where it can pull images, and otherwise one that is started here, and ended by `close`. */
export const openEngine = async (): Promise<Engine | NotHere> => {
  const own = engineAt(process.env, true)
  if (await pulls(own)) return { ...own, close: async () => {} }

  const folder = await mkdtemp(join(tmpdir(), 'weir-engine-'))
  // It ends its containers first, which takes longer than execa would wait.
  const running = execa(script('engine.sh'), [folder], { reject: false, forceKillAfterDelay: false })
  let ended: Awaited<typeof running> | undefined
  void running.then((end) => {
    ended = end
  })
  const close = async (): Promise<void> => {
    running.kill('SIGTERM')
    await running
    // The network of --network=host, which the engine leaves mounted.
    await execa('umount', [join(folder, 'exec/netns/default')], { reject: false })
    await rm(folder, { recursive: true, force: true })
  }
  const engine = engineAt({ ...process.env, DOCKER_HOST: `unix://${folder}/sock`, DOCKER_BUILDKIT: '0' }, false)
  try {
    await eventually(() => (ended ? undefined : engine.docker('info')), 300_000)
    if (ended?.exitCode === cannotHere) return await closed(close, ended.stderr)
    if (ended) throw new Error(`the engine ended: ${ended.stderr}${await readFile(join(folder, 'log'), 'utf8')}`)
    const made = await execa(script('base-images.sh'), { env: engine.env, reject: false })
    if (made.exitCode === cannotHere) return await closed(close, made.stderr)
    if (made.failed) throw new Error(`the base images were not made: ${made.stderr}`)
  } catch (error) {
    await close()
    throw error
  }
  return { ...engine, close }
}

const closed = async (close: () => Promise<void>, whyNot: string): Promise<NotHere> => {
  await close()
  return { whyNot }
}

const engineAt = (env: NodeJS.ProcessEnv, hasOfficialImages: boolean): Omit<Engine, 'close'> => ({
  docker: async (...words) => (await execa('docker', words, { env })).stdout,
  hasOfficialImages,
  env,
})

const pulls = async ({ docker }: Omit<Engine, 'close'>): Promise<boolean> =>
  docker('pull', '--quiet', 'debian:bookworm-slim').then(
    () => true,
    () => false,
  )
