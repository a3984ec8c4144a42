import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const embedded = join(import.meta.dirname, '../../../../deploy/embedded')

/** What a file imports, and what those files import. */
const importsFrom = (file: string, found = new Map<string, string[]>()): Map<string, string[]> => {
  if (found.has(file)) return found
  const names = [...readFileSync(file, 'utf8').matchAll(/^import .*?'([^']+)'$/gms)].map(([, name = '']) => name)
  found.set(file, names)
  for (const name of names.filter((each) => each.startsWith('.'))) importsFrom(join(dirname(file), name), found)
  return found
}

it.each(['start', 'test', 'weir', 'run-source'])(
  'runs %s.mjs on Node alone: nothing is installed or compiled yet',
  (door) => {
    const names = [...importsFrom(join(embedded, `${door}.mjs`)).values()].flat()
    expect(names).toContain('./setup/setup.mjs')
    expect(names.filter((name) => !name.startsWith('node:') && !name.endsWith('.mjs'))).toEqual([])
  },
)
