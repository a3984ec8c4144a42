import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { refusalOf } from '../supervision/disk-refusal.mjs'
import { root, SetUpFailure } from './tool.mjs'

/** Refuses a clone in which one of these folders cannot be written, before anything is downloaded into it. */
export function refuseUnwritable(folders) {
  for (const folder of folders.map(nearest)) {
    try {
      accessSync(folder, constants.W_OK | constants.X_OK)
    } catch (error) {
      throw diskFailure(error) ?? error
    }
  }
}

/** The failure to show for an error of the disk, in one line with the next step; undefined for any other error. */
export function diskFailure(error) {
  const refusal = refusalOf(error)
  if (refusal === undefined) return undefined
  const clone = dirname(`${root}.`)
  return new SetUpFailure(
    `Weir cannot be set up: ${(error.path ?? clone).replace(/\/$/, '')} cannot be used: ${refusal}. ${nextStep(error.code, clone)}`,
  )
}

const nextStep = (code, clone) => {
  if (code === 'EROFS') return `Copy it to another disk (cp -r ${quoted(clone)} ~/weir) and run the same command there.`
  if (code === 'EACCES' || code === 'EPERM')
    return `Make it yours (sudo chown -R "$(id -u)" ${quoted(clone)}) and run the same command again.`
  return 'See to that and run the same command again.'
}

const quoted = (text) => (/^[\w/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

// A folder that is not there yet is made in the nearest one that is.
const nearest = (path) => (existsSync(path) ? path : nearest(dirname(path)))
