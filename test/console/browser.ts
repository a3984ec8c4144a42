import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Debian's Chromium, or Chrome; undefined where there is none. */
export const findChromium = (): string | undefined => {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return places.find((path) => existsSync(path))
}

export const noChromium =
  'there is no Chromium here: install it (sudo apt-get install -y chromium), or put Chrome on the PATH'

export const startBrowser = async (): Promise<Browser> => {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(noChromium)
  // Its sandbox does not work for root, nor in most containers. Only pages of our own are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
