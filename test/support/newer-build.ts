import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { onTestFinished } from 'vitest'

/** The build that the tests run, and where a build lies whose catalogue is one version further. */
export const thisBuild = resolve('.')

/** A copy of a build in which one record type has one more optional field: the next release, as far as upgrades go. */
export const buildWith = async (from: string, recordFile: string, field: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-newer-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'tsconfig.json', 'schemas', 'services', 'clients', 'deploy'])
    await cp(join(from, name), join(folder, name), { recursive: true })
  await symlink(join(thisBuild, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'schemas/records', `${recordFile}.ts`)
  const declared = await readFile(file, 'utf8')
  const changed = declared.replace(
    '...lifecycle',
    `${field}: { kind: 'text', required: false, about: 'new' }, ...lifecycle`,
  )
  if (changed === declared) throw new Error(`${file} does not end its fields with ...lifecycle`)
  await writeFile(file, changed)
  await execa({ cwd: folder })`node_modules/.bin/vite build --config deploy/vite.config.ts`
  return folder
}
