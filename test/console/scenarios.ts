import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.js'

// What people do in the console, as a person would: tried on the page alone with a pretended edge, and on the real system.

/** The system that the page talks to. `key` is that of an organisation of which nothing is known yet. */
export type Subject = {
  url: string
  key: string
  otherKey: string
  /** Another program of the same organisation uploads these. */
  upload: (type: string, records: Record<string, unknown>[]) => Promise<void>
}

export const openConsole = async (
  browser: Browser,
  { url, key }: Pick<Subject, 'url' | 'key'>,
  look: BrowserContextOptions = {},
): Promise<Page> => {
  const page = await openPage(browser, url, look)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return page
}

/** A page of its own session; whatever fails in it, or is forbidden by its content security policy, is told by `faultsOf`. */
export const openPage = async (browser: Browser, url: string, look: BrowserContextOptions = {}): Promise<Page> => {
  const context = await browser.newContext({ locale: 'en-GB', ...look })
  const page = await context.newPage()
  const faults: string[] = []
  faultsOf.set(page, faults)
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text())
  })
  await page.goto(`${url}/console/`)
  return page
}

/** Another tab of the same browser, which is signed in as the first is. */
export const openTab = async (page: Page): Promise<Page> => {
  const tab = await page.context().newPage()
  await tab.goto(page.url())
  await tab.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return tab
}

export const faultsOf = new WeakMap<Page, string[]>()

/** Goes to a page by its link in the menu. */
export const goTo = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}

export const shop = () => ({ shop_id: randomUUID(), name: 'Corner Books', region: 'GB' })
export const offer = (more: Record<string, unknown> = {}) => ({
  offer_id: randomUUID(),
  shop_id: randomUUID(),
  name: 'Ten off',
  type: 'percentage',
  value: 10,
  region: 'GB',
  ...more,
})

/** A file with three bad rows is dropped; one of them is mended, one comes right by a retry; both are followed to their row. */
export const dropMendRetry = async (page: Page, subject: Subject): Promise<void> => {
  const [here, late] = [shop(), shop()]
  await subject.upload('shops', [here])
  const rows = [
    offer({ shop_id: here.shop_id }),
    offer({ shop_id: here.shop_id, region: 'Great Britain' }),
    offer({ shop_id: here.shop_id, value: -1 }),
    offer({ shop_id: late.shop_id }),
  ]
  const text = [Object.keys(offer()), ...rows.map((row) => Object.values(row))]
    .map((cells) => cells.join(','))
    .join('\n')
  await goTo(page, 'Upload')
  await dropFile(page, 'offers.csv', text)
  await page.getByText('Of the 4 records in this file, 3 would be refused and 1 accepted').waitFor()
  await page.getByRole('button', { name: 'Upload 4 records' }).click()
  await page.getByRole('heading', { name: 'Uploaded' }).waitFor()
  await expectFigure(page, 'accepted', '1')
  await expectFigure(page, 'refused', '3')

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the refused records' }).click(),
  ])
  const refused = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  expect(refused).toHaveLength(4)
  expect(refused[0]).toBe([...Object.keys(offer()), 'weir_line', 'weir_code', 'weir_field', 'weir_message'].join(','))
  expect(refused.some((line) => line.includes('region must be a 2-letter country code'))).toBe(true)

  // Rejections are in ClickHouse a moment later.
  await page.getByRole('link', { name: 'Look at them, mend them' }).click()
  await refreshUntil(page, () => page.getByRole('link', { name: 'a value has the wrong form' }))
  await page.getByRole('link', { name: 'a value has the wrong form' }).click()
  const readAgain = page.waitForResponse((answer) => answer.url().includes('/v1/rejections?'))
  await page.getByRole('button', { name: 'Mend it' }).click()
  await readAgain
  await page.getByLabel('region').fill('GB')
  expect(await page.getByText('It was refused again').count()).toBe(0)
  await page.getByRole('button', { name: 'Send it' }).click()
  await page.getByText('Accepted.').waitFor()
  await page.getByRole('link', { name: 'Its journey' }).click()
  await expectStored(page)
  await page.getByText('Refused', { exact: true }).first().waitFor()

  // It is left to do no more. What was accepted since is shown beside an older record before that takes its place.
  await goTo(page, 'Rejected')
  await page.getByLabel('State').selectOption('resolved')
  await refreshUntil(page, () => page.getByRole('link', { name: 'a value has the wrong form' }))
  await page.getByRole('link', { name: 'a value has the wrong form' }).click()
  await refreshUntil(page, () => page.getByText('accepted since', { exact: true }))
  await page.getByRole('button', { name: 'Mend it' }).click()
  await page.getByLabel('region').fill('FR')
  await page.getByRole('button', { name: 'Send it' }).click()
  await page.getByText('Nothing was sent').waitFor()
  await page.getByRole('row', { name: 'region GB FR' }).waitFor()
  await page.getByRole('button', { name: 'Keep what is in use' }).click()
  await page.getByText('Nothing was sent').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Mend it' }).click()
  await page.getByLabel('region').fill('FR')
  await page.getByLabel('created').fill('2024-05-31T12:00:00Z')
  await page.getByRole('button', { name: 'Send it' }).click()
  await page.getByRole('button', { name: 'Overwrite it with yours' }).click()
  await page.getByText('Accepted.').waitFor()

  await subject.upload('shops', [late])
  await goTo(page, 'Rejected')
  await refreshUntil(page, () => page.getByRole('link', { name: 'it refers to a record that is not there' }))
  await page.getByRole('link', { name: 'it refers to a record that is not there' }).click()
  await page.getByRole('button', { name: 'See how many' }).click()
  await page.getByText('1 record would be submitted again').waitFor()
  await page.getByRole('button', { name: 'Try them again' }).click()
  await page.getByRole('button', { name: 'Submit them' }).click()
  await page.getByText('1 accepted').waitFor()
  await page.getByText('Nothing of this group is left to do.').waitFor()
  await page.getByLabel('State').selectOption('retried')
  await page
    .getByRole('link', { name: String(rows[3]?.offer_id) })
    .first()
    .click()
  await expectStored(page)

  await goTo(page, 'Requests')
  await page.getByRole('region', { name: 'Requests' }).getByText('partly').first().waitFor()
}

const expectFigure = async (page: Page, name: string, value: string): Promise<void> => {
  const figure = page.locator('.figures > div', { hasText: name }).locator('dd')
  await eventually(async () => expect(await figure.first().textContent()).toBe(value))
}

/** The journey asks again by itself until the row is there. */
const expectStored = async (page: Page): Promise<void> => {
  await page.getByRole('heading', { name: "A record's journey" }).waitFor()
  for (const step of ['Received', 'Accepted', 'On the topic', 'In ClickHouse'])
    await page.locator('.timeline').getByText(step, { exact: true }).first().waitFor({ timeout: 60_000 })
  await page.locator('.timeline').getByText('sent with the key').first().waitFor()
  const published = page.locator('.timeline li').filter({ hasText: 'On the topic' })
  await published
    .getByText(/partition \d+, offset \d+/)
    .first()
    .waitFor({ timeout: 60_000 })
}

const refreshUntil = (page: Page, find: () => ReturnType<Page['locator']>): Promise<void> =>
  eventually(async () => {
    if (!(await find().first().isVisible())) {
      await page.getByRole('button', { name: 'Refresh' }).click()
      await find().first().waitFor({ timeout: 1_000 })
    }
  }, 60_000)

/** As somebody drops it with the mouse. */
const dropFile = async (page: Page, name: string, text: string): Promise<void> => {
  const files = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content ?? ''], fileName ?? '', { type: 'text/csv' }))
      return transfer
    },
    [name, text],
  )
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: files })
}

/** What another program uploads is seen on the overview and on its topic, without anybody asking again. */
export const seeItLive = async (page: Page, subject: Subject): Promise<void> => {
  await goTo(page, 'Overview')
  await page.getByText('live', { exact: true }).waitFor()
  const figure = page.locator('.figures > div', { hasText: 'accepted' }).locator('dd')
  const before = Number((await figure.textContent())?.replaceAll(',', ''))
  const records = [shop(), shop(), shop()]
  await subject.upload('shops', records)
  await eventually(async () => expect(Number((await figure.textContent())?.replaceAll(',', ''))).toBe(before + 3))

  await goTo(page, 'Topics')
  await page.getByRole('link', { name: 'weir.accepted.shops', exact: true }).click()
  await page.getByRole('heading', { name: /The last events/ }).waitFor()
  const arriving = shop()
  await eventually(async () => {
    await subject.upload('shops', [arriving])
    await page.locator('.events').getByText(arriving.shop_id).first().waitFor({ timeout: 2_000 })
  })
}

/** The pages with their addresses; `id` is that of a shop. */
export const everyPage = (id: string): [title: string, address: string][] => [
  ['Overview', '#/overview'],
  ['Upload', '#/upload'],
  ['Requests', '#/requests'],
  ['Rejected', '#/rejected?since=all'],
  ['Refused records', '#/rejected/group?since=2000-01-01T00:00:00Z'],
  ['Waiting', '#/waiting'],
  ["A record's journey", `#/journey/shops/${id}`],
  ['Quality', '#/quality'],
  ['Analytics', '#/analytics?time=90'],
  ['SQL', '#/sql'],
  ['Types', '#/types?type=offers'],
  ['Topics', '#/topics'],
  ['weir.accepted.shops', '#/topics/weir.accepted.shops'],
  ['Webhooks', '#/webhooks'],
  ['Persons', '#/persons'],
]

export const visit = async (page: Page, [title, address]: [string, string]): Promise<void> => {
  await page.evaluate((to) => {
    location.hash = to
  }, address)
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await eventually(async () => expect(await page.getByText('Loading…').count()).toBe(0))
}

/** Markup in every text that an uploader can choose, accepted and refused. */
export const attack = async (subject: Subject): Promise<string> => {
  const markup = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><b>bold</b>'
  const taken = { ...shop(), name: markup }
  const course = { course_id: randomUUID(), name: markup }
  await subject.upload('shops', [taken, { ...taken, name: `${markup} again` }])
  await subject.upload('offers', [
    offer({ shop_id: taken.shop_id, name: markup, type: markup, allowed_days: markup, allowed_branches: markup }),
    {
      offer_id: markup,
      shop_id: markup,
      name: markup,
      type: markup,
      value: markup,
      region: markup,
      created: markup,
      is_deleted: markup,
      [markup]: markup,
    },
  ])
  await subject.upload('courses', [course, { course_id: markup, [markup]: markup }])
  return taken.shop_id
}

/** Opens every page, and all that can be opened in it: nothing of a record has become an element, or was run. */
export const expectTextOnly = async (page: Page, id: string): Promise<void> => {
  for (const each of everyPage(id)) {
    await visit(page, each)
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
    })
    const mend = page.getByRole('button', { name: 'Mend it' })
    while ((await mend.count()) > 0) await mend.first().click()
    expect(await page.locator('img[src="x"], script:not([src]), b').count(), each[0]).toBe(0)
  }
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined()
  expect(faultsOf.get(page)).toEqual([])
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with the page as it is now. */
export const findBarriers = async (page: Page): Promise<string[]> => {
  // Not as a script element, which the page's policy would not run.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await (
      window as unknown as {
        axe: { run: () => Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }> }
      }
    ).axe.run()
    return violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  })
}
