import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

const { toolProblems } = await import(join(packageRoot, 'deploy/embedded/setup/java.mjs'))
const debian = (...packages: string[]) => ({
  platform: 'linux',
  osRelease: 'ID=debian\n',
  hasPackage: (name: string) => packages.includes(name),
})

it.each([17, 21, 25])('is content with Java %i', (java) => {
  expect(toolProblems({ java, maven: '3.8.7' }, debian())).toEqual([])
})

it('says which of Java and Maven is missing or too old, each in one line', () => {
  const system = debian('openjdk-17-jre-headless')
  expect(toolProblems({ java: 11, maven: '3.8.7' }, system)).toEqual([
    expect.stringMatching(/^Java 11 is too old: .*17 or later/),
  ])
  expect(toolProblems({ java: 17, maven: 'missing' }, system)).toEqual([
    expect.stringMatching(/^Maven is missing: .*install -y maven/),
  ])
  expect(toolProblems({ java: 0, maven: 'missing' }, system)).toHaveLength(2)
})

it.each([
  [debian('openjdk-17-jre-headless', 'default-jre-headless'), 'sudo apt-get install -y openjdk-17-jre-headless'],
  [debian('openjdk-21-jre-headless', 'default-jre-headless'), 'sudo apt-get install -y openjdk-21-jre-headless'],
  [debian('default-jre-headless'), '(sudo apt-get install -y default-jre-headless)'],
  [debian(), '(sudo apt-get update && sudo apt-get install -y default-jre-headless)'],
  [
    { ...debian(), osRelease: 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\n' },
    'sudo apt-get update && sudo apt-get install -y openjdk-17-jre-headless',
  ],
  [{ ...debian(), osRelease: 'ID=fedora\n' }, 'sudo dnf install -y java-latest-openjdk-headless'],
  [
    { ...debian(), osRelease: 'ID="rocky"\nID_LIKE="rhel centos fedora"\n' },
    'sudo dnf install -y java-21-openjdk-headless',
  ],
  [{ ...debian(), platform: 'darwin', osRelease: '' }, 'brew install openjdk'],
])('names what this system has', (system, command) => {
  expect(toolProblems({ java: 0, maven: '3.8.7' }, system)[0]).toContain(command)
})

it.each(['3.6.3', '3.8.7', '3.9.11', '4.0.0'])('is content with Maven %s', (maven) => {
  expect(toolProblems({ java: 17, maven }, debian())).toEqual([])
})

it.each(['2.2.1', '3.5.4', '3.6.2'])('says which Maven is needed instead of %s', (maven) => {
  expect(toolProblems({ java: 17, maven }, debian())).toEqual([
    expect.stringMatching(`^Maven ${maven} is too old: Weir needs Maven 3.6.3 or later. Put a newer one from https://`),
  ])
})

it('does not blame a Maven that cannot run for want of Java', () => {
  expect(toolProblems({ java: 17, maven: '' }, debian())).toEqual([expect.stringMatching(/^Maven does not run: /)])
  expect(toolProblems({ java: 0, maven: '' }, debian())).toEqual([expect.stringMatching(/^Java is missing: /)])
})
