import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

const { createFetchReader, measured, pomHash } = await import(join(packageRoot, 'deploy/embedded/setup/java.mjs'))

it('says how much is fetched of what was measured, files that are under way included', () => {
  const read = createFetchReader(measured.pom)
  read('[INFO] Scanning for projects...')
  read('Downloading from central: https://repo.example/maven2/org/a/a-1.pom')
  read('Downloaded from central: https://repo.example/maven2/org/a/a-1.pom (18 kB at 7.7 kB/s)')
  read('Progress (2): 2.1/9.8 MB | 900/980 kB')
  expect(read('Progress (2): 5.1/9.8 MB | 960/980 kB')).toBe('6 of 205 MB, 1 of 337 files at most')
  read('Downloaded from central: https://repo.example/maven2/org/b/b-1.jar (980 kB at 1.7 MB/s)')
  read('Downloaded from central: https://repo.example/maven2/org/c/c-1.jar (9.8 MB at 1.7 MB/s)')
  expect(read('[INFO] BUILD SUCCESS')).toBe('11 of 205 MB, 3 of 337 files at most')
})

it('names no total for a pom.xml that was not measured', () => {
  const read = createFetchReader('another')
  expect(read('Progress (1): 71/142 MB')).toBe('71 MB, 0 files')
})

it('has measured the pom.xml as it is; after a change, measure anew', () => {
  expect(pomHash()).toBe(measured.pom)
})

it('fits on a terminal of 80 columns', () => {
  const read = createFetchReader(measured.pom)
  for (let i = 0; i < 336; i++) read('Downloaded from central: https://repo.example/a.jar (600 kB at 1.7 MB/s)')
  const line = `[ 100.0 s] ⠋ Kafka and schema registry: ${read('[INFO] BUILD SUCCESS')}`
  expect(line.length).toBeLessThan(80)
})
