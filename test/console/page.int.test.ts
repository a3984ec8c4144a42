import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sized } from '../support/sized.js'
import { findChromium, noChromium } from './browser.js'
import { fill } from './pretend/fill.js'
import { keys } from './pretend/pretend-edge.js'
import { startPretended } from './pretend/start.js'
import { fillWebhooks } from './pretend/webhooks.js'
import { typeReferences } from './pretend/world.js'
import {
  everyPage,
  faultsOf,
  findBarriers,
  goTo,
  openConsole,
  openPage,
  openTab,
  type Subject,
  visit,
} from './scenarios.js'
import { endWebhook, makeWebhook, testWebhook } from './webhook-scenario.js'

// The page alone, in a real browser: a pretended edge answers as agreed. What people do with it is tried on the real system:
// console.e2e.test.ts.

const { edge, browser } = await startPretended()
const upload: Subject['upload'] = async (type, records) => void edge.world.upload('demo', type, records, false)
const subject: Subject = { url: edge.url, key: keys.demo, otherKey: keys.other, upload }

describe('the console', () => {
  it('takes a key for the tabs of this browser, says what is wrong with one, and forgets it', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openPage(browser, edge.url)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('API key').fill('weir_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is not valid').waitFor()
    await page.getByLabel('API key').fill(keys.demo)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain('weir_')
    expect(await page.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length])).toEqual([0, '', 1])
    const other = await openTab(page)
    expect(await other.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length])).toEqual([
      0,
      '',
      1,
    ])
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, other]) {
      await tab.getByLabel('API key').waitFor()
      expect(await tab.evaluate(() => sessionStorage.length)).toBe(0)
    }
    await page.reload()
    await page.getByLabel('API key').waitFor()
  })

  it('is loaded in a few requests, and a reload asks for the page alone', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    edge.servedFiles.length = 0
    const page = await openPage(browser, edge.url)
    await page.getByLabel('API key').waitFor()
    expect(edge.servedFiles.length).toBeLessThanOrEqual(4)
    edge.servedFiles.length = 0
    await page.reload()
    await page.getByLabel('API key').waitFor()
    expect(edge.servedFiles).toEqual(['/console/'])
  })

  it('says on every empty page what to do first', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.other })
    for (const [title, address] of everyPage('x').filter(([, each]) =>
      /overview|requests|rejected\?|waiting|quality|analytics/.test(each),
    )) {
      await visit(page, [title, address])
      await page.locator('.empty').getByRole('link', { name: 'downloads' }).waitFor()
      expect(await page.locator('main').textContent()).not.toMatch(/npm|\.data\//)
    }
  })

  it('shows each key its own organisation, and the pages that it may see', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.reader })
    const links = page.getByRole('navigation', { name: 'Pages' }).locator('ul a')
    expect(await links.allTextContents()).toEqual(['Overview', 'Requests', 'Types', 'Topics'])
    const other = await openConsole(browser, { ...subject, key: keys.other })
    await goTo(other, 'Requests')
    await other.getByText('Nothing was sent yet.').waitFor()
  })

  it('lets an operator look at any organisation, issue a key that is shown once, and revoke it', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    await subject.upload('tags', [{ tag_id: crypto.randomUUID(), name: 'sent before' }])
    const page = await openConsole(browser, { ...subject, key: keys.operator })
    await page.getByLabel('Organisation').selectOption('demo')
    await goTo(page, 'Requests')
    await page.getByRole('region', { name: 'Requests' }).waitFor()
    // The address alone says so, also to a colleague.
    expect(new URL(page.url()).hash).toBe('#/requests?org=demo')
    await page.reload()
    await eventually(async () => expect(await page.getByLabel('Organisation').inputValue()).toBe('demo'))
    await goTo(page, 'Keys')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    const key = await page.locator('.notice.good pre').textContent()
    expect(key).toMatch(/^weir_/)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText(key ?? '').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke' }).last().click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await page.getByText('is revoked.').waitFor()
    await page.getByLabel('Records a second').fill('5000')
    await page.getByRole('button', { name: 'Set the limits' }).click()
    await page.getByText('The limits of demo are set.').waitFor()
    await eventually(async () => expect(await page.getByLabel('Records a second').inputValue()).toBe('5000'))
    expect(await findBarriers(page)).toEqual([])
  })

  it('shows an operator what concerns every organisation, and says that one is not there', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    edge.noteForAll('retention_set', 'shops', { keep: '30d' })
    const page = await openConsole(browser, { ...subject, key: keys.operator })
    await visit(page, ['What was done', '#/audit?org=demo'])
    expect(await page.getByText('Records of shops are kept for 30d').count()).toBe(0)
    await page.getByRole('link', { name: 'Of every organisation' }).click()
    await page.getByText('Records of shops are kept for 30d').waitFor()
    await page.getByText('The chain holds: 1 entry').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Of demo' }).click()
    await page.getByText('Records of shops are kept for 30d').waitFor({ state: 'detached' })

    await page.evaluate(() => {
      location.hash = '#/persons?org=gone'
    })
    await page.getByRole('heading', { level: 1, name: 'There is no organisation gone' }).waitFor()
    expect(await page.getByText('Nobody was to be forgotten').count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])
    await goTo(page, 'Organisations')
    await page.getByRole('region', { name: 'Organisations' }).getByRole('link', { name: 'other' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await goTo(page, 'Persons')
    await page.getByText('Ask for it with a key of theirs, or on the server:').waitFor()
  })

  it('tells a page that the key may not see from one that is none', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    await visit(page, ['Your key may not see this page', '#/keys'])
    await visit(page, ['There is no such page', '#/nonsense'])
  })

  it('covers nothing, and cuts nothing off', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const wide = await openConsole(browser, subject, { viewport: { width: 1280, height: 800 } })
    const [links, below] = [wide.locator('#menu ul'), wide.locator('#menu p')]
    await visit(wide, ['Topics', '#/topics'])
    const table = wide.getByRole('region', { name: 'Topics' })
    expect(await table.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    await wide.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await eventually(async () => expect(await wide.evaluate(() => scrollY)).toBeGreaterThan(100))
    const [list, rest] = [await links.boundingBox(), await below.boundingBox()]
    expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThanOrEqual(rest?.y ?? 0)

    const phone = await openConsole(browser, subject, { viewport: { width: 390, height: 844 } })
    for (const [title, address] of [
      ['Topics', '#/topics'],
      ['Types', '#/types'],
    ] as const) {
      await visit(phone, [title, address])
      expect(await phone.locator('.table').evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    }
    await visit(phone, ['weir.accepted.offers', '#/topics/weir.accepted.offers'])
    const [text, copy] = [phone.locator('.code pre'), phone.locator('.code .copy')]
    const [code, button] = [await text.boundingBox(), await copy.boundingBox()]
    expect((code?.y ?? 0) + (code?.height ?? 0)).toBeLessThanOrEqual(button?.y ?? 0)
  })

  it('shows an operator all organisations with what they send, and the parts of the system', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    await subject.upload('tags', [{ tag_id: crypto.randomUUID(), name: 'to be counted' }, { tag_id: 'wrong' }])
    const page = await openConsole(browser, { ...subject, key: keys.operator })
    await goTo(page, 'Organisations')
    const table = page.getByRole('region', { name: 'Organisations' })
    const names = () => table.locator('tbody tr td:first-child').allTextContents()
    await eventually(async () => expect((await names())[0]).toBe('demo'))
    await page.getByRole('region', { name: 'Parts' }).getByText('does not work').waitFor()
    await page.getByRole('region', { name: 'Parts' }).getByText('81.4 GB').waitFor()
    await page.getByRole('region', { name: 'Who reads the topics' }).getByText('weir.accepted.offers 1,250').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Id of the organisation begins with').fill('oth')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await names()).toEqual(['other']))
    expect(new URL(page.url()).hash).toContain('prefix=oth')
    await table.getByRole('link', { name: 'other' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await eventually(async () => expect(await page.getByLabel('Organisation').inputValue()).toBe('other'))
  })

  itDeep('asks an operator before an organisation is made that nobody may have meant', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.operator })
    await visit(page, ['Keys', '#/keys?org=demo'])
    const typed = page.getByRole('textbox', { name: 'Organisation' })
    await typed.fill('demoo')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    await page.getByText('There is no organisation demoo yet. Make it?').waitFor()
    await eventually(async () =>
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Make demoo and its key'),
    )
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Issue a key' }).waitFor()
    expect(await page.locator('.notice.good').count()).toBe(0)
    await page.getByRole('button', { name: 'Issue a key' }).click()
    await page.getByRole('button', { name: 'Make demoo and its key' }).click()
    await page.getByText(/The key .* of demoo is made/).waitFor()
    // One that is there is not asked about.
    await typed.fill('other')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    await page.getByText(/The key .* of other is made/).waitFor()
  })

  it('lets a key with keys:manage name, make and revoke keys of its organisation, and shows what was done', async ({
    skip,
  }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.manager })
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await goTo(page, 'Keys')
    const table = page.getByRole('region', { name: 'Keys', exact: true })
    await table.getByText('the tills').waitFor()
    expect(await table.getByText('k_other').count()).toBe(0)
    // No limits, and no organisation to choose: those are an operator's.
    expect(await page.getByLabel('Records a second').count()).toBe(0)
    expect(await page.getByRole('textbox', { name: 'Organisation' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Revoke k_manager' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Rename k_reader' }).click()
    await page.getByLabel('Name of k_reader').fill('the new tills')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await focused()).toContain('The key k_reader is called the new tills now.'))
    await table.getByText('the new tills').waitFor()

    await page.getByLabel('Name', { exact: true }).fill('nightly upload')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    await eventually(async () => expect(await focused()).toContain('The key nightly upload'))
    const row = table.getByRole('row').filter({ hasText: 'nightly upload' })
    await row.getByText('by k_manager').waitFor()
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await eventually(async () => expect(await focused()).toContain('is revoked'))
    const folded = page.getByText('Revoked and expired (')
    await folded.click()
    const ended = page.getByRole('region', { name: 'Revoked and expired keys' })
    await ended.getByRole('row').filter({ hasText: 'nightly upload' }).getByText('revoked', { exact: true }).waitFor()
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('link', { name: 'What was done' }).last().click()
    await page.getByRole('heading', { level: 1, name: 'What was done' }).waitFor()
    await page.getByText(/The chain holds: \d+ entries/).waitFor()
    const done = page.getByRole('region', { name: 'What was done' })
    await done.getByText('called the new tills (was the tills)').waitFor()
    await done
      .getByText(/Key .* revoked/)
      .first()
      .waitFor()
    expect(await findBarriers(page)).toEqual([])

    const problem = { what: 'removed', at: '2026-01-31T08:00:00.000Z', chain: '3f' }
    await page.route('**/v1/audit/verification', (route) => route.fulfill({ json: { holds: false, problem } }))
    await page.reload()
    await page.getByRole('alert').getByText('The chain does not hold. Entries are missing').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  itDeep(
    'takes a value in the address that it does not know for none, and goes on where one page fails',
    async ({ skip }) => {
      if (!findChromium()) skip(noChromium)
      const page = await openConsole(browser, subject)
      for (const [title, address] of [
        ['Quality', '#/quality?days=abc&type=nothing'],
        ['Requests', '#/requests?status=lost&type=nothing'],
      ] as const)
        await visit(page, [title, address])
      expect(faultsOf.get(page)).toEqual([])

      await page.route('**/v1/waiting?*', (route) => route.fulfill({ json: { nothing: 'that is known' } }))
      await page.evaluate(() => {
        location.hash = '#/waiting'
      })
      await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor()
      expect(await findBarriers(page)).toEqual([])
      await goTo(page, 'Types')
      await page.getByRole('heading', { level: 1, name: 'Types' }).waitFor()
      await page.unroute('**/v1/waiting?*')
      await goTo(page, 'Waiting')
      await page.getByText('Nothing waits.').waitFor()
    },
  )

  it('makes webhooks, tests, changes and deletes them, and looks by itself what came of a test', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.other })
    await goTo(page, 'Webhooks')
    await page.getByText('weir webhooks create --org other').waitFor()
    expect(await findBarriers(page)).toEqual([])
    // What is refused says why, and stays in the form.
    await page.getByLabel('Address').fill('http://10.0.0.1/hook')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('plain http leads only to networks that the operator allows').waitFor()
    expect(await page.getByLabel('Address').inputValue()).toBe('http://10.0.0.1/hook')
    const [taking, failing] = ['https://example.com/hook', 'https://example.com/500']
    await makeWebhook(page, taking)
    await testWebhook(page, taking, async () => {
      await page.getByLabel('Address').fill(failing)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The webhook is changed.').waitFor()
    })
    await page.locator('td summary').first().click()
    await page.getByText('Traceback: <b>no such table</b>').waitFor()
    await endWebhook(page)
    expect(faultsOf.get(page)).toEqual([])
  })

  it('shows the log of a webhook by state and page by page, and has deliveries made again, one or all of a time', async ({
    skip,
  }) => {
    if (!findChromium()) skip(noChromium)
    const { good, failing, ended } = fillWebhooks(edge.webhooks, 'demo')
    const page = await openConsole(browser, subject)
    const open = async (one: typeof good) => {
      await visit(page, ['A webhook', `#/webhooks/${one.webhook.webhook_id}`])
      await page.getByText(one.webhook.url).waitFor()
    }
    const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr')
    await open(good)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByRole('link', { name: 'Newest' }).waitFor()
    await page.getByRole('button', { name: 'failed' }).click()
    await eventually(async () => expect(await rows.count()).toBe(1))
    expect(new URL(page.url()).hash).toContain('?state=failed')
    await rows.locator('summary', { hasText: 'what was in it is no longer kept' }).waitFor()
    // With the keyboard: the sentence has the focus, and says in the end what came of it.
    await page.getByRole('button', { name: /^Deliver again msg_/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('The delivery of request.completed was delivered: 200 after 8 ms.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('was delivered')

    await page.getByRole('button', { name: 'Deliver again all of a time' }).click()
    await page.getByRole('button', { name: 'Deliver them' }).click()
    await page.getByText('9 deliveries are on their way again').waitFor()
    await eventually(async () => expect(await page.getByText('pending', { exact: true }).count()).toBe(1))
    await page.getByLabel('What was made').selectOption('own')
    await page.getByLabel('From', { exact: true }).fill('2020-01-31T12:00:00')
    await page.getByLabel('Until', { exact: true }).fill('2020-01-31T13:00:00')
    await page.getByRole('button', { name: 'Deliver again all of a time' }).click()
    await page.getByRole('button', { name: 'Deliver them' }).click()
    await page.getByText('There is nothing in this time').waitFor()

    await open(failing)
    await page.getByText('Your receiver does not take what comes next').waitFor()
    await open(ended)
    await page.getByText('The receiver has not taken a delivery for 72 hours').waitFor()
    expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0)
    // An operator sees them, and changes none.
    const operator = await openConsole(browser, { ...subject, key: keys.operator })
    await visit(operator, ['A webhook', `#/webhooks/${failing.webhook.webhook_id}?org=demo`])
    await operator.getByText('Webhooks of another organisation are changed with a key of theirs').waitFor()
    expect(await operator.getByRole('button', { name: /test|Disable|Save|again/ }).count()).toBe(0)
    expect(faultsOf.get(page)).toEqual([])
  })

  it('marks the fields that some released version has not had, and none where there is no release', async ({
    skip,
  }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    const marks = page.getByRole('region', { name: 'Fields of shops' }).locator('.badge')
    await visit(page, ['Types', '#/types?type=shops'])
    expect(await marks.count()).toBe(0)
    const types = typeReferences()
    for (const field of types.find(({ type }) => type === 'shops')?.fields ?? []) {
      if (field.name === 'region') Object.assign(field, { since: '0.2.0' })
      if (field.name === 'is_public') Object.assign(field, { since: null })
    }
    await page.route('**/v1/types', (route) => route.fulfill({ json: { types } }))
    await page.reload()
    await page.getByText('Clients and schemas of an earlier version do not have the fields that are marked.').waitFor()
    expect(await marks.allTextContents()).toEqual(['since 0.2.0', 'new, in no release yet'])
    expect(await findBarriers(page)).toEqual([])
  })

  it('changes one value in many refused records, with a preview, and saves a group as a file', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const wrong = ['Great Britain', 'Great Britain', 'Atlantis'].map((region) => ({
      ...{ shop_id: crypto.randomUUID(), name: '=1+1', region },
    }))
    await subject.upload('shops', wrong)
    const page = await openConsole(browser, subject)
    await visit(page, ['shops: a value has the wrong form', '#/rejected/group?type=shops&code=bad_format&field=region'])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as CSV' }).click()
    const path = await (await saved).path()
    const lines = readFileSync(path, 'utf8').split('\n')
    expect(lines[0]).toMatch(/^shop_id,.*,weir_line,weir_code,weir_field,weir_message$/)
    expect(lines.filter((line) => line.includes("'=1+1"))).toHaveLength(3)

    await page.getByLabel('Where it is').selectOption({ label: 'Great Britain: 2 records' })
    await page.getByLabel('Becomes').fill('GB')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('2 records would be submitted again').waitFor()
    await page.getByRole('row', { name: 'Great Britain GB nothing by itself' }).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Change them' }).click()
    await page.getByRole('button', { name: 'Change and submit' }).click()
    await page.getByText('2 accepted').waitFor()
    await page.getByText('Atlantis: 1 record').waitFor({ state: 'attached' })
    await eventually(async () => expect(await page.getByRole('group', { name: 'Refused record' }).count()).toBe(1))
  })

  it('can be used with the keyboard alone', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    expect([await focused(), await page.title()]).toEqual(['Overview', 'Overview · Weir'])
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the page')
    for (let turn = 0; turn < 30; turn += 1) {
      await page.keyboard.press('Tab')
      if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Upload') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Upload' }).waitFor()
    // A screen reader begins with the new page's heading, and the next Tab is within the page.
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1'))
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('file')

    const operator = await openConsole(browser, { ...subject, key: keys.operator })
    await visit(operator, ['Keys', '#/keys?org=demo'])
    const revoke = operator.getByRole('button', { name: 'Revoke k_reader' })
    await revoke.click()
    await operator.getByRole('button', { name: 'Revoke it' }).waitFor()
    await operator.keyboard.press('Escape')
    await eventually(async () =>
      expect(await revoke.evaluate((button) => button === document.activeElement)).toBe(true),
    )
  })

  it('shows what matters of a request on a phone, and names what is shown in the title', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const id = crypto.randomUUID()
    await subject.upload('tags', [{ tag_id: id, name: 'on a phone' }, { tag_id: 'wrong' }])
    const page = await openConsole(browser, subject, { viewport: { width: 390, height: 844 } })
    await visit(page, ['Requests', '#/requests'])
    const cells = page.getByRole('region', { name: 'Requests' }).locator('tbody tr').first().locator('td')
    const boxes = await Promise.all((await cells.all()).map((cell) => cell.boundingBox()))
    expect(boxes.every((box) => box && box.x >= 0 && box.x + box.width <= 390)).toBe(true)
    await page.getByText('partly', { exact: true }).last().waitFor()
    const request = String(edge.world.requests[0]?.request_id)
    await visit(page, ['A request of tags', `#/requests/${request}`])
    expect(await page.title()).toBe(`Request ${request} · Weir`)
    await visit(page, ["A record's journey", `#/journey/tags/${id}`])
    expect(await page.title()).toBe(`tags ${id} · Weir`)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Types', exact: true }).waitFor({ state: 'hidden' })
  })

  it('finds anything by its id from any page, with the keyboard too, and says where nothing has it', async ({
    skip,
  }) => {
    if (!findChromium()) skip(noChromium)
    const [id, both] = [crypto.randomUUID(), crypto.randomUUID()]
    await subject.upload('tags', [
      { tag_id: id, name: 'to be found' },
      { tag_id: both, name: 'shared' },
    ])
    const request = String(edge.world.requests[0]?.request_id)
    await subject.upload('shops', [{ shop_id: both, name: 'Books', region: 'GB' }])
    const page = await openConsole(browser, subject)
    const find = async (text: string) => {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await find(id)
    await page.getByRole('heading', { level: 1, name: "A record's journey" }).waitFor()
    expect(page.url()).toContain(`/journey/tags/${id}`)
    await find(request)
    await page.getByRole('heading', { level: 1, name: 'A request of tags' }).waitFor()
    // Where one is in the box already, the key that leads there is a sign like any other, with which no id begins.
    await page.getByLabel('Find an id').focus()
    await find(both)
    await page.getByText('Several things have this id').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'the record of shops' }).click()
    await page.getByText('Several things').waitFor({ state: 'detached' })
    expect(page.url()).toContain(`/journey/shops/${both}`)
    // The page takes the focus when it is there.
    await page.getByRole('heading', { level: 1, name: "A record's journey" }).waitFor()
    await find(crypto.randomUUID())
    await page.getByText('Nothing of demo has the id').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing of demo has the id').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Find an id')
    // Typed into a field it is a sign like any other.
    await page.keyboard.type('a/b')
    expect(await page.getByLabel('Find an id').inputValue()).toMatch(/a\/b$/)

    const operator = await openConsole(browser, { ...subject, key: keys.operator })
    await operator.getByLabel('Find an id').fill('k_reader')
    await operator.keyboard.press('Enter')
    await operator.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    expect(new URL(operator.url()).hash).toBe('#/keys?org=demo')
  })

  itDeep(
    'shows times in the zone that is chosen, gives tables as CSV, and ids to copy without permission too',
    async ({ skip }) => {
      if (!findChromium()) skip(noChromium)
      const id = crypto.randomUUID()
      await subject.upload('tags', [{ tag_id: id, name: 'timed' }])
      const request = String(edge.world.requests[0]?.request_id)
      const page = await openConsole(browser, subject, { timezoneId: 'Asia/Tokyo' })
      await visit(page, ["A record's journey", `#/journey/tags/${id}`])
      const time = page.locator('.timeline time').first()
      expect(await time.textContent()).toMatch(/GMT\+9$/)
      await page.getByLabel('Times are shown in').selectOption('UTC')
      await eventually(async () => expect(await time.textContent()).toMatch(/UTC$/))
      await page.reload()
      await eventually(async () => expect(await time.textContent()).toMatch(/UTC$/))

      // As on a page that did not come over https.
      await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
      await page.getByRole('button', { name: 'Copy: the id' }).click()
      await page.getByRole('button', { name: 'Copy: the id' }).getByText('Copied').waitFor()
      expect(await page.evaluate(() => getSelection()?.toString())).toBe(id)

      const textOf = async (table: string) => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: `Download as CSV: ${table}` }).click(),
        ])
        return readFileSync(await download.path(), 'utf8')
      }
      await visit(page, ['Requests', '#/requests'])
      const [head, first] = (await textOf('Requests')).split('\n')
      expect(head).toBe('Request,Type,When,Status,Records,Accepted,Refused,Waiting')
      expect(first).toMatch(new RegExp(`^${request},tags,\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z,accepted,1,1,0,0$`))
      // A spreadsheet runs none of it.
      await subject.upload('tags', [{ tag_id: '=1+1', name: 'formula' }])
      await visit(page, ['Overview', '#/overview'])
      await page.getByRole('link', { name: '=1+1' }).waitFor()
      expect(await textOf('The last refused records')).toContain(",tags,'=1+1,")
    },
  )

  itDeep(
    'shows what was decided in any time up to 90 days, a stretch of it by dragging, and names only what can be seen',
    async ({ skip }) => {
      if (!findChromium()) skip(noChromium)
      await subject.upload('tags', [{ tag_id: crypto.randomUUID(), name: 'counted' }])
      const page = await openConsole(browser, subject)
      await page.getByText('live', { exact: true }).waitFor()
      for (const span of ['1h', '6h', '24h', '7d', '30d', '90d']) {
        await page.getByLabel('Period').selectOption(span)
        await page.locator('.u-legend .u-series').nth(3).waitFor()
        expect(new URL(page.url()).hash).toBe(`#/overview?span=${span}`)
      }
      await page.getByText('in the last 90 days').waitFor()
      const names = await page.locator('.u-legend .u-series .u-label').allTextContents()
      expect(names).toEqual(['Time', 'accepted', 'refused', 'interactions'])
      expect(await page.locator('.figures dt').allTextContents()).toEqual([
        'accepted',
        'refused',
        'interactions',
        'waiting now',
      ])
      const box = await page.locator('.u-over').boundingBox()
      if (!box) throw new Error('there is no chart')
      await page.mouse.move(box.x + box.width / 4, box.y + 40)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 5 })
      await page.mouse.up()
      await page.getByRole('button', { name: 'Show the whole time' }).click()
      await page.getByRole('button', { name: 'Show the whole time' }).waitFor({ state: 'detached' })
      expect(await findBarriers(page)).toEqual([])
      expect(faultsOf.get(page)).toEqual([])
    },
  )

  it('shows what the marts answer as charts, tables, files and queries, of what the address says', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    if (edge.days.length === 0) fill(edge)
    const page = await openConsole(browser, subject)
    await goTo(page, 'Analytics')
    const paid = page.locator('.figures > div', { hasText: 'paid' }).locator('dd')
    await paid.waitFor()
    const everywhere = await paid.textContent()
    await page.getByLabel('Period').selectOption('90')
    await page.getByLabel('Region').selectOption('FR')
    await eventually(async () => expect(new URL(page.url()).hash).toBe('#/analytics?time=90&region=FR'))
    await page.reload()
    await paid.waitFor()
    expect(await page.getByLabel('Region').inputValue()).toBe('FR')
    expect(await paid.textContent()).not.toBe(everywhere)
    // What has no region is of all of them, and says so.
    await page.getByRole('heading', { name: 'Segments all days, all regions' }).waitFor()

    const card = page.locator('section.card', { has: page.getByRole('heading', { name: 'Sales by day' }) })
    await card.getByText('SQL', { exact: true }).click()
    const sql = (await card.locator('pre').textContent()) ?? ''
    expect(sql).toContain('from weir.sales_by_day')
    expect(sql).toMatch(/day >= '\d{4}-\d\d-\d\d' and .*region = 'FR'/)
    await card.getByText('The same as a table').click()
    await card.getByRole('region', { name: 'Sales by day as a table' }).getByText('savings').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV: Sales by day' }).click(),
    ])
    const [head, first] = readFileSync(await download.path(), 'utf8').split('\n')
    expect(head).toBe('day,amount,savings,transactions,rows')
    expect(first).toMatch(/^\d{4}-\d\d-\d\d,[\d.]+,[\d.]+,\d+,\d+$/)

    // A segment of one's own, with its condition and its members.
    await page.getByRole('combobox', { name: 'Segment' }).selectOption('big spenders')
    await page.getByText("amount > 500 and region in ( 'GB' , 'IE' )").waitFor()
    const [members] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download who is in it now' }).click(),
    ])
    expect(members.suggestedFilename()).toBe('big spenders.csv')
    await page.getByText('3 customers.').waitFor()

    // With the keyboard: days of one's own, a shop by its bar, and another time to buy in.
    await page.getByLabel('Period').focus()
    await page.keyboard.type('from')
    await page.getByLabel('From', { exact: true }).waitFor()
    await page.getByLabel('From', { exact: true }).fill('2020-01-01')
    await page.getByLabel('To', { exact: true }).fill('2020-01-31')
    await page.getByText('There are no transactions in this time.').waitFor()
    await page.getByRole('link', { name: 'Show all time, all regions and all shops' }).click()
    await page.getByRole('link', { name: 'Corner Books 2' }).focus()
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await page.getByRole('combobox', { name: 'Shop' }).inputValue()).not.toBe(''))
    await page.getByLabel('Bought within').selectOption('30')
    await page.getByRole('region', { name: 'Recommendations', exact: true }).getByText('more often').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(faultsOf.get(page)).toEqual([])
  })

  const looks = [
    ['narrow and dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
    ['wide and light', { colorScheme: 'light', viewport: { width: 1360, height: 900 } }],
  ] as const
  it.for(looks.slice(0, sized(1, 2)))(
    'has no barrier that axe finds, and nothing wider than the screen: %s',
    async ([, look], { skip }) => {
      if (!findChromium()) skip(noChromium)
      if (edge.days.length === 0) fill(edge)
      const page = await openConsole(browser, subject, look)
      const id = [...edge.world.stored.values()].find(({ type, org }) => type === 'shops' && org === 'demo')?.id ?? ''
      for (const each of everyPage(id)) {
        await visit(page, each)
        expect(await findBarriers(page), each[0]).toEqual([])
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          each[0],
        ).toBeLessThanOrEqual(0)
      }
      expect(faultsOf.get(page)).toEqual([])
    },
  )

  const widths = [
    ['narrow', { viewport: { width: 390, height: 844 } }],
    ['wide', { viewport: { width: 1360, height: 900 } }],
  ] as const
  it.for(widths.slice(0, sized(1, 2)))(
    'lets an operator find one of many organisations, and loads only some of them: %s',
    async ([, look], { skip }) => {
      if (!findChromium()) skip(noChromium)
      const headers = { authorization: `Bearer ${keys.operator}`, 'content-type': 'application/json' }
      for (let n = 0; n < 300; n++)
        await fetch(`${edge.url}/v1/operator/keys`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ org: `many-${String(n).padStart(3, '0')}` }),
        })
      const page = await openConsole(browser, { ...subject, key: keys.operator }, look)
      const chosen = page.getByLabel('Organisation')
      await page.getByLabel('Id begins with').fill('many-29')
      await eventually(async () => expect(await chosen.locator('option').count()).toBeLessThan(15))
      await chosen.selectOption('many-299')
      await page.getByLabel('Id begins with').fill('')
      await eventually(async () => expect(await chosen.locator('option').count()).toBeGreaterThan(100))
      expect(await chosen.locator('option').count()).toBeLessThan(210)
      expect(await chosen.inputValue()).toBe('many-299')
      await visit(page, ['Keys', '#/keys'])
      await page.getByRole('region', { name: 'Keys' }).waitFor()
      await page.getByLabel('Records a second').waitFor()
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    },
  )
})
