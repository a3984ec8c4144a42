import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

const { missingLines } = await import(join(packageRoot, 'deploy/embedded/setup/java.mjs'))
const debian = (...packages: string[]) => ({
  platform: 'linux',
  osRelease: 'ID=debian\n',
  hasPackage: (name: string) => packages.includes(name),
})

it.each([17, 21, 25])('is content with Java %i', (java) => {
  expect(missingLines({ java, hasMaven: true }, debian())).toEqual([])
})

it('says which of Java and Maven is missing or too old, each in one line', () => {
  const system = debian('openjdk-17-jre-headless')
  expect(missingLines({ java: 11, hasMaven: true }, system)).toEqual([
    expect.stringMatching(/^Java 11 is too old: .*17 or later/),
  ])
  expect(missingLines({ java: 17, hasMaven: false }, system)).toEqual([
    expect.stringMatching(/^Maven is missing: .*install -y maven/),
  ])
  expect(missingLines({ java: 0, hasMaven: false }, system)).toHaveLength(2)
})

it.each([
  [debian('openjdk-17-jre-headless', 'default-jre-headless'), 'sudo apt-get install -y openjdk-17-jre-headless'],
  [debian('openjdk-21-jre-headless', 'default-jre-headless'), 'sudo apt-get install -y openjdk-21-jre-headless'],
  [debian('default-jre-headless'), 'sudo apt-get install -y default-jre-headless'],
  [{ ...debian(), osRelease: 'ID=fedora\n' }, 'sudo dnf install -y java-latest-openjdk-headless'],
  [{ ...debian(), platform: 'darwin', osRelease: '' }, 'brew install openjdk'],
])('names what this system has', (system, command) => {
  expect(missingLines({ java: 0, hasMaven: true }, system)[0]).toContain(command)
})
