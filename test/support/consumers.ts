import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '#platform/process/package-root.js'
import type { Consumers } from '#schemas/derive/topic-reference/consumers.js'
import { openPythonPackages } from '../docs/python-packages.js'
import { pages, snippetsOf } from '../docs/snippets.js'
import { eventually } from './eventually.js'

export type ConsumerLanguage = keyof Consumers
type Means = { file: string; command: string[] } | { whyNot: string }

/** Runs consumers as a stranger does: in a folder of their own, with the packages that they name and nothing of ours. */
export const openConsumers = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-consumers-'))
  await symlink(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const means: Record<ConsumerLanguage, Means> = {
    typescript: { file: 'subscription.ts', command: [process.execPath, '--import', 'tsx'] },
    python: await openPython(folder),
    java: await openJava(),
  }
  let runs = 0

  /** Runs a program until it has printed all of this, then presses Ctrl-C. Returns how it ended, or why it cannot run here. */
  const runUntil = async (language: ConsumerLanguage, text: string, wanted: string[]): Promise<Ended | NotHere> => {
    const found = means[language]
    if ('whyNot' in found) return found
    const place = join(folder, String(++runs))
    await mkdir(place)
    await writeFile(join(place, found.file), text)
    const [command = '', ...args] = found.command
    const env = { PYTHONUNBUFFERED: '1' }
    const running = execa(command, [...args, found.file], { cwd: place, all: true, reject: false, env })
    let printed = ''
    running.all.on('data', (piece: Buffer) => {
      printed += piece.toString()
    })
    try {
      await eventually(() => {
        const missing = wanted.filter((piece) => !printed.includes(piece))
        if (missing.length > 0) throw new Error(`it did not print ${missing.join(' and ')}, but:\n${printed}`)
      }, 90_000)
    } finally {
      running.kill('SIGINT')
      await running
    }
    const { exitCode } = await running
    // A Java that ends in good order, with its shutdown hooks, says 130 all the same.
    return { isWell: exitCode === (language === 'java' ? 130 : 0), printed }
  }
  return { folder, runUntil }
}

type Ended = { isWell: boolean; printed: string }
type NotHere = { whyNot: string }

const openPython = async (folder: string): Promise<Means> => {
  const packages = await openPythonPackages(pages.flatMap((page) => snippetsOf(page)))
  if ('whyNot' in packages) return packages
  const [venv, wanted] = [join(folder, 'venv'), 'confluent-kafka[avro,schemaregistry]']
  const made = await execa('python3', ['-m', 'venv', venv], { reject: false })
  if (made.failed) return { whyNot: `no Python environment: ${made.shortMessage}` }
  await execa(join(venv, 'bin/pip'), ['install', '--quiet', wanted], { env: packages.env })
  return { file: 'subscription.py', command: [join(venv, 'bin/python')] }
}

/** Kafka's client and Avro are beside the embedded parts. */
const openJava = async (): Promise<Means> => {
  const { stdout = '' } = await execa('java', ['--list-modules'], { reject: false })
  if (!stdout.includes('jdk.compiler')) return { whyNot: 'no Java compiler: Debian has one in default-jdk-headless' }
  const parts = join(packageRoot, '.parts')
  const libraries = await readdir(join(parts, 'registry/lib')).catch(() => [])
  const avro = libraries.find((jar) => /\bavro-[\d.]+\.jar$/.test(jar))
  if (!avro) return { whyNot: 'no Avro for Java: the embedded registry, which brings it, is not installed here' }
  const path = [join(parts, 'kafka/*'), join(parts, 'registry/lib', avro)].join(':')
  return { file: 'Subscription.java', command: ['java', '-cp', path] }
}
