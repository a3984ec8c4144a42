// What a release consists of, each made into one folder.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { packageRoot } from '#platform/process/package-root.js'
import { makeDownloads } from '../embedded/setup/downloads.mjs'

export type Release = { version: string; commit: string; folder: string; say: (line: string) => void }

const run = (command: string, ...words: string[]): string =>
  execFileSync(command, words, {
    cwd: packageRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 << 20,
  })

/** The SDKs, the uploader and what assistants start, as the edge serves them at /downloads/. */
export const makePackages = async ({ folder, say }: Release): Promise<void> => {
  const made = await mkdtemp(join(tmpdir(), 'weir-release-'))
  try {
    await makeDownloads(made)
    for (const file of (await readdir(made)).filter((name) => /\.(tgz|whl)$/.test(name))) {
      await rename(join(made, file), join(folder, file)).catch(async () => run('cp', join(made, file), folder))
      say(file)
    }
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** The chart in the layout that `helm install` takes; Helm itself is not needed for it. */
export const makeChart = ({ version, commit, folder, say }: Release): void => {
  if (!existsSync(join(packageRoot, 'deploy/helm/weir/Chart.yaml'))) {
    say('no chart: there is no deploy/helm/weir')
    return
  }
  const file = `weir-chart-${version}.tgz`
  const time = commit === 'unknown' ? '@0' : `@${run('git', 'show', '-s', '--format=%ct', commit).trim()}`
  // Sorted, without owners and times: the same files give the same checksum on every machine.
  const same = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=${time}`,
    '--use-compress-program=gzip -n',
  ]
  run('tar', ...same, '-cf', join(folder, file), '-C', join(packageRoot, 'deploy/helm'), 'weir')
  say(file)
}

/** The packages that run in production, with versions and licences, as CycloneDX. */
export const makeSbom = ({ version, folder, say }: Release): void => {
  const file = `weir-sbom-${version}.json`
  const words = ['--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only', '--workspaces=false']
  writeFileSync(join(folder, file), run('npm', 'sbom', ...words))
  say(file)
}

/** The image, as `docker load` reads it; left out where no engine answers, since not every machine has one. */
export const makeImage = ({ version, commit, folder, say }: Release): void => {
  try {
    run('docker', 'info')
  } catch {
    // Either no docker or no engine: the rest of the release does not need it.
    say('no image: no Docker engine answers (docker info)')
    return
  }
  const [tag, file] = [`weir:${version}`, `weir-image-${version}.tar`]
  run(
    'docker',
    'build',
    '--quiet',
    '--network=host',
    `--build-arg=WEIR_COMMIT=${commit}`,
    '--file=deploy/Dockerfile',
    `--tag=${tag}`,
    '.',
  )
  run('docker', 'save', '--output', join(folder, file), tag)
  run('gzip', '-n', join(folder, file))
  say(`${file}.gz`)
}

/** As `sha256sum --check SHA256SUMS` reads it. */
export const makeChecksums = async (folder: string): Promise<void> => {
  const file = 'SHA256SUMS'
  rmSync(join(folder, file), { force: true })
  const lines = []
  for (const name of readdirSync(folder).sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(folder, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  writeFileSync(join(folder, file), lines.join(''))
}
