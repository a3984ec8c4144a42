import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

export const javaCommand = (home: string | undefined): string => {
  const inHome = home ? join(home, 'bin', 'java') : undefined
  return inHome && existsSync(inHome) ? inHome : 'java'
}

/** Where the set-up put the jars of the Java parts. */
export const jarsDir = (part: 'kafka' | 'registry'): string => join(packageRoot, '.parts', part)
