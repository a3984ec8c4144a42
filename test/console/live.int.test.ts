import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { findChromium, noChromium } from './browser.js'
import { keys } from './pretend/pretend-edge.js'
import { startPretended } from './pretend/start.js'
import { findBarriers, openConsole, openTab, shop, visit } from './scenarios.js'

// What comes by itself, in a real browser: a pretended edge answers as agreed.

const { edge, browser } = await startPretended()

it('is read once for all tabs, and by another tab when the one that reads is closed', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const first = await openConsole(browser, { url: edge.url, key: keys.demo })
  await first.getByText('live', { exact: true }).waitFor()
  const others = [await openTab(first), await openTab(first)]
  const showsAccepted = (sum: string) =>
    eventually(async () => {
      for (const tab of others) expect(await tab.locator('.figures dd').first().textContent()).toBe(sum)
    })
  for (const tab of others) await tab.getByText('live', { exact: true }).waitFor()
  expect(edge.streamsOf('k_demo')).toBe(1)
  edge.world.upload('demo', 'shops', [shop(), shop()], false)
  await showsAccepted('2')
  await first.close()
  await eventually(() => expect(edge.streamsOf('k_demo')).toBe(1))
  edge.world.upload('demo', 'shops', [shop()], false)
  await showsAccepted('3')
})

it('shows no figure that is not known, and says why and what to do', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const ending = new AbortController()
  const headers = { authorization: `Bearer ${keys.other}` }
  for (let n = 0; n < 4; n++) await fetch(`${edge.url}/v1/live`, { headers, signal: ending.signal })
  const page = await openConsole(browser, { url: edge.url, key: keys.other })
  await page.getByText('this API key has 4 live streams open').waitFor()
  await page.getByText('not live', { exact: true }).waitFor()
  expect(await page.locator('.figures dd').allTextContents()).toEqual(['–', '–', '–', '–'])
  expect(await findBarriers(page)).toEqual([])
  await visit(page, ['weir.accepted.shops', '#/topics/weir.accepted.shops'])
  await page.getByText('this API key has 4 live streams open').waitFor()
  expect(await page.getByText('live', { exact: true }).count()).toBe(0)

  ending.abort()
  await page.getByText('live', { exact: true }).waitFor()
  await visit(page, ['Overview', '#/overview'])
  await eventually(async () => expect(await page.locator('.figures dd').first().textContent()).toMatch(/^\d+$/))
})
