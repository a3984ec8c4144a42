import type { Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import { findChromium, startBrowser } from '../browser.js'
import { startPretendEdge } from './pretend-edge.js'

/** A pretended edge and a browser, for as long as a file of tests runs. Where there is no Chromium, its tests skip before they use it. */
export const startPretended = async () => {
  const edge = await startPretendEdge()
  const browser = (findChromium() ? await startBrowser() : undefined) as Browser
  afterAll(async () => {
    await browser?.close()
    await edge.stop()
  })
  return { edge, browser }
}
