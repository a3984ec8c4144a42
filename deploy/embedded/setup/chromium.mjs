import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aptInstall } from './java.mjs'
import { SetUpFailure } from './tool.mjs'

/**
 * The browser in which the tests use the console, without its windows: the whole one takes twice the processor time. Nothing else needs it,
 * and without it those tests are skipped, with the reason.
 */
export const chromium = {
  title: 'Chromium',
  seconds: 40,
  isNeeded: () => process.getuid?.() === 0 && existsSync('/etc/debian_version') && findChromium() === undefined,
  run: async (detail) => {
    detail('installing with apt-get')
    try {
      await aptInstall('chromium-headless-shell')
    } catch (error) {
      if (!(error instanceof SetUpFailure)) throw error
      // The other tests are worth running all the same.
      detail('could not be installed; .parts/logs/apt-get.log says why, and the summary names the tests that need it')
    }
  },
}

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Debian's Chromium, with or without windows, or Chrome; undefined where there is none. */
export const findChromium = () => {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
