import { type Browser, chromium } from 'playwright-core'
import { findChromium } from '../../deploy/embedded/setup/chromium.mjs'

export { findChromium }

export const noChromium =
  'there is no Chromium here: install it (sudo apt-get install -y chromium-headless-shell), or put Chrome on the PATH'

export const startBrowser = async (): Promise<Browser> => {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(noChromium)
  // Its sandbox does not work for root, nor in most containers. Only pages of our own are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
