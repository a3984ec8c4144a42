import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.js'
import { findBarriers, goTo } from './scenarios.js'

/** Makes a webhook to an address in the console; resolves to its secret, which was shown once. */
export const makeWebhook = async (page: Page, url: string): Promise<string> => {
  await goTo(page, 'Webhooks')
  await page.getByLabel('Address').fill(url)
  await page.getByRole('checkbox', { name: /^waiting.expired/ }).uncheck()
  await page.getByRole('button', { name: 'Make the webhook' }).click()
  const shown = page.locator('.notice.good pre')
  const secret = (await shown.textContent()) ?? ''
  expect(secret).toMatch(/^whsec_/)
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await shown.waitFor({ state: 'detached' })
  return secret
}

/** Opens the only webhook, sends it a test that its receiver takes, and one that it does not. */
export const testWebhook = async (page: Page, url: string, fail: () => Promise<void> | void): Promise<void> => {
  await page.getByRole('region', { name: 'Webhooks' }).getByRole('link', { name: url }).click()
  await page.getByText('Nothing was delivered yet.').waitFor()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText(/^The test was delivered: 200 after [\d,]+ ms\.$/).waitFor()
  await fail()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText(/^The test was not taken: 500 after [\d,]+ ms\.$/).waitFor()
  // It has the focus, wherever the button was.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('The test was not taken')
  const log = page.getByRole('region', { name: 'Deliveries' })
  await eventually(async () =>
    expect(await log.locator('tbody .badge').allTextContents()).toEqual(['failed', 'delivered']),
  )
}

/** Gives it a new secret, has it disabled and deleted, each time after a question. */
export const endWebhook = async (page: Page): Promise<string> => {
  await page.getByLabel('The former one signs').selectOption('3600')
  await page.getByRole('button', { name: 'Make a new secret' }).click()
  await page.getByRole('button', { name: 'Make it' }).click()
  await page.getByText('deliveries are signed with both').waitFor()
  const secret = (await page.locator('.notice.good pre').textContent()) ?? ''
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Disable it' }).click()
  await page.getByText('It is disabled: nothing is sent to it.').waitFor()
  await page.getByText('It was disabled by hand').waitFor()
  expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('It is enabled, and goes on where it stopped.').waitFor()
  await page.getByRole('button', { name: 'Delete the webhook' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByText('is deleted, and its log with it.').waitFor()
  await page.locator('main').getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('There is no webhook yet.').waitFor()
  return secret
}
