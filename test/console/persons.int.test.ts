import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { findChromium, noChromium } from './browser.js'
import { fillPersons, proofOf } from './pretend/persons.js'
import { keys } from './pretend/pretend-edge.js'
import { startPretended } from './pretend/start.js'
import { faultsOf, findBarriers, goTo, openConsole, type Subject, visit } from './scenarios.js'

// The page alone: what an erasure does, and what an export holds, is tried on the real system.

const { edge, browser } = await startPretended()
const subject: Subject = { url: edge.url, key: keys.demo, otherKey: keys.other, upload: async () => {} }
const savedBy = async (page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> => {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}
const countOf = async (page: Page, person: string): Promise<void> => {
  await page.locator('#forget-person').fill(person)
  await page.keyboard.press('Enter')
  await page.getByRole('group', { name: 'What was counted' }).waitFor()
}

describe('the page of persons', () => {
  it('counts, asks, follows by itself and hands over the proof; with the keyboard', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { ...subject, key: keys.other })
    await goTo(page, 'Persons')
    await page.getByText('Nobody was to be forgotten yet.').waitFor()
    await page.getByText('weir erasures create --org other').waitFor()
    expect(await findBarriers(page)).toEqual([])

    edge.persons.kept.add('anna')
    await page.locator('#export-person').fill('anna')
    await countOf(page, 'anna')
    const counted = page.getByRole('group', { name: 'What was counted' })
    await counted.getByText('1,211 messages and rows in 5 places name this person.').waitFor()
    expect(await counted.getByRole('row').allTextContents()).toContain('weir.interactions1,204')
    // What was counted has the focus; the question names the person, and no is an answer.
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('What was counted')
    await page.getByRole('button', { name: 'Forget the person' }).press('Enter')
    await page.getByText('Forget anna for good?').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await eventually(async () => expect(await focused()).toBe('Forget the person'))
    expect(edge.persons.known.map(({ erasure }) => erasure.dry_run)).toEqual([true])
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Forget this person' }).press('Enter')
    await page.getByText('It is asked for.').waitFor()
    const [asked] = edge.persons.known
    expect(asked).toMatchObject({ org: 'other', person: 'anna', erasure: { mode: 'erase', afterwards: 'refuse' } })
    // Nothing on the page names the person from here on.
    expect(await page.locator('main').textContent()).not.toContain('anna')
    for (const field of ['#forget-person', '#export-person']) expect(await page.locator(field).inputValue()).toBe('')

    const id = asked?.erasure.erasure_id ?? ''
    const proof = page.getByRole('button', { name: `Download the proof of ${id}` })
    await proof.waitFor()
    expect(await page.getByRole('button', { name: /^Download the proof/ }).count()).toBe(1)
    const { name, text } = await savedBy(page, () => proof.press('Enter'))
    expect([name, JSON.parse(text)]).toEqual([`erasure-${id}.proof.json`, proofOf(id)])
    expect(faultsOf.get(page)).toEqual([])
  })

  it('counts anew where something is changed, and takes what was chosen', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    await visit(page, ['Persons', '#/persons'])
    await page.getByRole('radio', { name: /^Pseudonymise/ }).check()
    await page.getByLabel('Later uploads that name the person').selectOption('new')
    await countOf(page, 'nobody')
    await page.getByText('Nothing names this person now.').waitFor()
    await page.locator('#forget-person').fill('nobody else')
    expect(await page.getByRole('button', { name: 'Forget the person' }).count()).toBe(0)
    await countOf(page, 'nobody else')
    await page.getByRole('button', { name: 'Forget the person' }).click()
    await page.getByRole('button', { name: 'Forget this person' }).click()
    await page.getByText('It is asked for.').waitFor()
    expect(edge.persons.known[0]).toMatchObject({
      ...{ org: 'demo', person: 'nobody else' },
      erasure: { mode: 'pseudonymise', afterwards: 'new', dry_run: false },
    })
    expect(faultsOf.get(page)).toEqual([])
  })

  it('saves what is kept about a person, and says where nothing is', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    edge.persons.kept.add('a/b c')
    const page = await openConsole(browser, subject)
    await visit(page, ['Persons', '#/persons'])
    await page.locator('#export-person').fill('a/b c')
    const json = await savedBy(page, () => page.keyboard.press('Enter'))
    expect([json.name, JSON.parse(json.text)]).toEqual(['person.json', { person: { id: 'a/b c' }, records: [] }])
    await page.getByText('person.json is saved').waitFor()
    const csv = await savedBy(page, () => page.getByRole('button', { name: 'Download as CSV' }).first().click())
    expect([csv.name, csv.text.split('\n')[1]]).toEqual(['person.csv', 'person,,,,,id,a/b c'])
    await page.locator('#export-person').fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Nothing of yours is kept about a person with this id.').waitFor()
  })

  it('shows why one does not go on, and what was found', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    fillPersons(edge.persons, 'demo')
    const page = await openConsole(browser, subject, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    await visit(page, ['Persons', '#/persons'])
    const list = page.getByRole('region', { name: 'Erasures' })
    await list
      .getByText('2 places still have something of it, such as weir.rejected/0@417; it is done again.')
      .waitFor()
    await list.getByText('1,211 in 5 places').first().click()
    await list.getByText('weir.customers_log').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  })

  it('is for those who may, each what they may, of their own organisation', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const reader = await openConsole(browser, { ...subject, key: keys.reader })
    expect(await reader.getByRole('link', { name: 'Persons' }).count()).toBe(0)
    const operator = await openConsole(browser, { ...subject, key: keys.operator })
    await visit(operator, ['Persons', '#/persons?org=demo'])
    await operator.getByText('with a key of theirs, or by').waitFor()
    expect(await operator.locator('#forget-person, #export-person').count()).toBe(0)
  })
})
