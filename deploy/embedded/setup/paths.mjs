import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
export const partsDir = join(root, '.parts')
export const pom = join(root, 'deploy/embedded/setup/pom.xml')
