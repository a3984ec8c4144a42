import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { kill, pidOf } from '../support/system/processes.js'
import { analyst, newOrganisation, operate, system } from '../support/system/system.js'
import { startReceiver } from '../support/webhook-receiver.js'
import { findChromium, noChromium, startBrowser } from './browser.js'
import {
  attack,
  dropMendRetry,
  expectTextOnly,
  faultsOf,
  findBarriers,
  goTo,
  offer,
  openConsole,
  openPage,
  type Subject,
  seeItLive,
  shop,
} from './scenarios.js'
import { endWebhook, makeWebhook, testWebhook } from './webhook-scenario.js'

// The console on the real system, in a real browser.

let browser: Browser
beforeAll(async () => {
  if (findChromium()) browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
})

/** Two organisations of which nothing is known yet. */
const newSubject = async (stem: string): Promise<Subject> => {
  const [mine, other] = [await newOrganisation(stem), await newOrganisation(`${stem}-other`)]
  const upload: Subject['upload'] = async (type, records) => {
    const { status } = await mine.uploader.upload(type, records)
    expect([200, 207, 400]).toContain(status)
  }
  return { url: system.edgeUrl, key: mine.key, otherKey: other.key, upload }
}

it('lets a file be dropped, a record be mended, a group be tried again, and each be followed to its row', async ({
  skip,
}) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console')
  const page = await openConsole(browser, subject)
  await dropMendRetry(page, subject)
  expect(faultsOf.get(page)).toEqual([])

  // Another organisation sees none of it.
  const other = await openConsole(browser, { ...subject, key: subject.otherKey })
  for (const title of ['Overview', 'Requests']) {
    await goTo(other, title)
    await other.getByText('Nothing was sent yet.').waitFor()
  }
  await goTo(other, 'Rejected')
  await other.getByText('Nothing was refused in this time.').waitFor()
})

it('shows what is decided while it is decided', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-live')
  await seeItLive(await openConsole(browser, subject), subject)
})

it('shows what was sold, exact to the cent, and gives the query that says the same', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-analytics')
  const sold = { ...shop(), name: 'Corner Books' }
  await subject.upload('shops', [sold])
  const buy = (amount: number) => ({
    ...{ transaction_id: randomUUID(), shop_id: sold.shop_id, region: 'GB', amount, savings: 0.05 },
    created: new Date().toISOString(),
  })
  await subject.upload('transactions', [buy(0.1), buy(0.2), buy(1234.5)])
  const page = await openConsole(browser, subject)
  await goTo(page, 'Analytics')
  const paid = page.locator('.figures > div', { hasText: 'paid' }).locator('dd')
  // Rows are in ClickHouse a moment later.
  await eventually(async () => {
    await page.reload()
    await page.getByText('Loading…').first().waitFor({ state: 'detached' })
    expect(await paid.textContent({ timeout: 5_000 })).toBe('1,234.80')
  }, 60_000)
  await page.getByRole('link', { name: 'Corner Books' }).waitFor()
  await page.locator('.foot').first().getByText('SQL', { exact: true }).click()
  const rows = await analyst.query<{ amount: string }>((await page.locator('.foot pre').first().textContent()) ?? '')
  expect(rows).toMatchObject([{ transactions: 3, amount: 1234.8 }])
  expect(faultsOf.get(page)).toEqual([])
})

it('makes a webhook whose secret verifies what comes, and shows what its receiver answers', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const page = await openConsole(browser, await newSubject('console-webhooks'))
  const secret = await makeWebhook(page, receiver.url)
  await testWebhook(page, receiver.url, () => receiver.answer(() => 500))
  for (const { text, headers } of receiver.received) new Webhook(secret).verify(text, headers as Record<string, string>)
  expect(await endWebhook(page)).not.toBe(secret)
  expect(faultsOf.get(page)).toEqual([])
})

itDeep('shows what waits for what, has it cancelled, and in a journey what came of waiting', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-waiting')
  const wait = (...records: Record<string, unknown>[]) => subject.upload('offers?missing_references=wait', records)
  const late = shop()
  await wait(offer({ shop_id: late.shop_id }), offer({ shop_id: late.shop_id }))
  const page = await openConsole(browser, subject)
  await goTo(page, 'Requests')
  await page.getByRole('region', { name: 'Requests' }).getByText('waiting', { exact: true }).first().waitFor()
  await goTo(page, 'Waiting')
  await page.getByText('2 records wait for others').waitFor()
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: /^Cancel what waits for shops/ }).click()
  await page.getByRole('button', { name: 'Cancel them' }).click()
  await page.getByText('2 records no longer wait').waitFor()
  await page.getByText('Nothing waits.').waitFor()

  const patient = offer({ shop_id: late.shop_id })
  await wait(patient)
  await subject.upload('shops', [late])
  await page.evaluate((id) => {
    location.hash = `#/journey/offers/${id}`
  }, patient.offer_id)
  for (const step of ['Waited', 'Accepted', 'In ClickHouse'])
    await page.locator('.timeline').getByText(step, { exact: true }).first().waitFor({ timeout: 60_000 })
  expect(faultsOf.get(page)).toEqual([])
})

itDeep('says that the edge is gone, and goes on by itself once it is back', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-kill')
  const page = await openConsole(browser, subject)
  await page.getByText('live', { exact: true }).waitFor()
  const killed = kill('edge')
  await page.getByText('The service cannot be reached.').waitFor()
  await eventually(() => expect(pidOf('edge')).not.toBe(killed), 60_000)
  await page.getByText('The service cannot be reached.').waitFor({ state: 'detached', timeout: 60_000 })
  await eventually(() => subject.upload('shops', [shop()]))
  await eventually(async () => expect(await page.locator('.figures dd').first().textContent()).toBe('1'))
})

it('exports a person, and counts what names one before anybody can have that person forgotten', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-persons')
  const person = randomUUID()
  await subject.upload('customers', [{ customer_id: person, user_id: person, region: 'GB' }])
  const page = await openConsole(browser, subject)
  await goTo(page, 'Persons')
  await page.getByText('Nobody was to be forgotten yet.').waitFor()
  const exported = async () => {
    await page.locator('#export-person').fill(person)
    const [download] = await Promise.all([
      page.waitForEvent('download', { timeout: 2_000 }),
      page.getByRole('button', { name: 'Download as CSV' }).first().click(),
    ])
    return readFileSync(await download.path(), 'utf8')
  }
  await eventually(async () => expect(await exported()).toContain(`customer_id,${person}`))
  await page.locator('#forget-person').fill(person)
  await page.keyboard.press('Enter')
  const counted = page.getByRole('group', { name: 'What was counted' })
  await counted.waitFor({ timeout: 120_000 })
  await counted.getByText('weir.accepted.customers').waitFor()
  await counted.getByText('weir.customers_log').waitFor()
  // Escape is no: what was counted is all there is to see.
  await page.getByRole('button', { name: 'Forget the person' }).click()
  await page.getByText(`Forget ${person} for good?`).waitFor()
  await page.keyboard.press('Escape')
  const list = page.getByRole('region', { name: 'Erasures' })
  await list.getByText('counted only').waitFor()
  expect(await list.getByRole('row').count()).toBe(2)
  expect(await findBarriers(page)).toEqual([])
  expect(faultsOf.get(page)).toEqual([])
})

it('shows text from records as text', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const subject = await newSubject('console-text')
  const id = await attack(subject)
  await expectTextOnly(await openConsole(browser, subject), id)
})

itDeep(
  'lets an operator look at an organisation, and issue a key of it that is shown once and works until it is revoked',
  async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const org = await newOrganisation('console-operated')
    await org.uploader.upload('shops', [shop()])
    const { key: operator } = await operate<{ key: string }>(['keys', 'issue', '--operator', '--expires', '1d'])
    const page = await openConsole(browser, { url: system.edgeUrl, key: operator })
    await page.getByLabel('Organisation').selectOption(org.name)
    await goTo(page, 'Requests')
    await page.getByRole('region', { name: 'Requests' }).getByText('shops').first().waitFor()
    await goTo(page, 'Keys')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    const key = (await page.locator('.notice.good pre').textContent()) ?? ''
    const isTaken = async () =>
      (await fetch(`${system.edgeUrl}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).ok
    expect(await isTaken()).toBe(true)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText(key).waitFor({ state: 'detached' })
    // The one that was just issued is the last.
    await page
      .getByRole('button', { name: /^Revoke / })
      .last()
      .click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await page.getByText('is revoked.').waitFor()
    await eventually(async () => expect(await isTaken()).toBe(false))
    expect(await findBarriers(page)).toEqual([])
  },
)

it('is served with a strict policy, and without a key', async ({ skip }) => {
  const answer = await fetch(`${system.edgeUrl}/console/`)
  expect(answer.status).toBe(200)
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  if (!findChromium()) skip(noChromium)
  const page = await openPage(browser, system.edgeUrl)
  await page.getByLabel('API key').waitFor()
  expect(faultsOf.get(page)).toEqual([])
})
