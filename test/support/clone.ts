import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

const copied = [
  'deploy',
  'services',
  'clients',
  'schemas',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'LICENSE',
  'dist',
]
const linked = ['node_modules', '.parts']

/** This clone again in another folder: its sources and what is built of them as copies, what was downloaded by a link. */
export const cloneInto = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (const name of copied) await cp(join(packageRoot, name), join(folder, name), { recursive: true })
  for (const name of linked) await symlink(join(packageRoot, name), join(folder, name))
}
