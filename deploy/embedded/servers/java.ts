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

/**
 * The environment of every Java process. Java opens files by the machine's locale: under LC_ALL=C it finds no folder whose name
 * has a letter beyond ASCII, while Node writes all names as UTF-8.
 */
export const javaEnvironment = { LC_ALL: 'C.UTF-8' } as const

/**
 * The options of every Java process. From Java 24 on, Java warns of what Kafka and the registry do with memory, at every start;
 * it reads this property, which older ones ignore, where it would refuse an option that it does not know.
 */
export const javaOptions = ['-Dsun.misc.unsafe.memory.access=allow', '-XX:+ExitOnOutOfMemoryError'] as const

/**
 * The text of a .properties file. Java reads such a file as Latin-1, takes a backslash for an escape, and drops blanks before a
 * value.
 */
export const javaProperties = (properties: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${escaped(String(value))}\n`)
    .join('')

const escaped = (value: string): string =>
  value
    .replaceAll('\\', '\\\\')
    .replace(/^ /, '\\ ')
    .replaceAll(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
