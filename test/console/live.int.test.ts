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

it('stands still while it is paused, says what came meanwhile, and can be looked through by key', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const page = await openConsole(browser, { url: edge.url, key: keys.demo })
  await visit(page, ['weir.accepted.shops', '#/topics/weir.accepted.shops'])
  await page.getByText('live', { exact: true }).waitFor()
  const [before, during, after] = [shop(), shop(), shop()]
  const send = (...records: ReturnType<typeof shop>[]) => edge.world.upload('demo', 'shops', records, false)
  const events = page.locator('.events')
  send(before)
  await events.getByText(before.shop_id).first().waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  send(during, after)
  await page.getByText('2 came since').waitFor()
  expect(await events.getByText(during.shop_id).count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Go on' }).click()
  for (const { shop_id } of [before, during, after]) await events.getByText(shop_id).first().waitFor()
  await page.getByLabel('Key contains').fill(during.shop_id.toUpperCase())
  await events.getByText(before.shop_id).first().waitFor({ state: 'detached' })
  expect(await events.locator('li').count()).toBe(1)
  await page.getByLabel('Key contains').fill('nobody')
  await page.getByText(/None of the last \d+ events has such a key/).waitFor()
})

it('shows no figure that is not known, and says why and what to do', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const ending = new AbortController()
  const headers = { authorization: `Bearer ${keys.other}` }
  // In a variable: Node closes the stream of an answer that was collected as garbage.
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => fetch(`${edge.url}/v1/live`, { headers, signal: ending.signal })),
  )
  const page = await openConsole(browser, { url: edge.url, key: keys.other })
  await page.getByText('this API key has 4 live streams open').waitFor()
  await page.getByText('not live', { exact: true }).waitFor()
  // What waits now does not come by the stream.
  expect(await page.locator('.figures dd').allTextContents()).toEqual(['–', '–', '–', '0'])
  expect(await findBarriers(page)).toEqual([])
  await visit(page, ['weir.accepted.shops', '#/topics/weir.accepted.shops'])
  await page.getByText('this API key has 4 live streams open').waitFor()
  expect(await page.getByText('live', { exact: true }).count()).toBe(0)

  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  ending.abort()
  await page.getByText('live', { exact: true }).waitFor()
  await visit(page, ['Overview', '#/overview'])
  await eventually(async () => expect(await page.locator('.figures dd').first().textContent()).toMatch(/^\d+$/))
})
