import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

export const javaCommand = (home: string | undefined): string => {
  const inHome = home ? join(home, 'bin', 'java') : undefined
  return inHome && existsSync(inHome) ? inHome : 'java'
}

/** Where the set-up put the jars of the Java parts. */
export const jarsDir = (part: 'kafka' | 'registry'): string => join(packageRoot, '.parts', part)

/** Java opens files by the machine's locale: under LC_ALL=C it finds no folder whose name has a letter beyond ASCII. */
export const javaEnvironment = { LC_ALL: 'C.UTF-8' } as const

/** The light compiler and garbage collector make the start of these seldom busy parts a quarter shorter. */
export const lightJava = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const

/** Java 24 warns at every start of what these parts do with memory, without this property, which older ones ignore. */
export const javaOptions = ['-Dsun.misc.unsafe.memory.access=allow', '-XX:+ExitOnOutOfMemoryError'] as const

/** The text of a .properties file, which Java reads as Latin-1 with escapes, dropping blanks before a value. */
export const javaProperties = (properties: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${escaped(String(value))}\n`)
    .join('')

const escaped = (value: string): string =>
  value
    .replaceAll('\\', '\\\\')
    .replace(/^ /, '\\ ')
    .replaceAll(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
