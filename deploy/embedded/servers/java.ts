import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

export const javaCommand = (home: string | undefined): string => {
  const inHome = home ? join(home, 'bin', 'java') : undefined
  return inHome && existsSync(inHome) ? inHome : 'java'
}

export type JavaPart = 'kafka' | 'registry'

/** Where the set-up put the jars of the Java parts. */
export const jarsDir = (part: JavaPart): string => join(packageRoot, '.parts', part)

/** The part's classes as Java maps them at a start (class-archives.ts). */
export const archiveOf = (part: JavaPart): string => join(jarsDir(part), 'classes.jsa')

/**
 * Lets Java take its classes from the archive. One that was made by another Java or from other jars is passed over, without the
 * warnings of it. Java takes a colon in the name for the end of it.
 */
export const archiveOptions = (part: JavaPart): string[] =>
  existsSync(archiveOf(part)) && !archiveOf(part).includes(':')
    ? [`-XX:SharedArchiveFile=${archiveOf(part)}`, '-Xlog:disable', '-Xlog:all=error:stderr']
    : []

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
