import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { findChromium, noChromium } from './browser.js'
import { keys } from './pretend/pretend-edge.js'
import { pretendPassword } from './pretend/sql.js'
import { startPretended } from './pretend/start.js'
import { faultsOf, findBarriers, goTo, openConsole, openPage, visit } from './scenarios.js'

// The SQL page alone, in a real browser: a pretended edge answers. What a query really gives: services/query/sql/sql.int.test.ts.

const { edge, browser } = await startPretended()
const subject = { url: edge.url, key: keys.demo }

/** As a person does: everything is selected and typed anew. */
const write = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Query' }).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

describe('the SQL page', () => {
  it('asks for the password once, completes, runs, plots, downloads and cancels', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    expect(edge.servedFiles.some((path) => path.includes('/sql-'))).toBe(false)
    await goTo(page, 'SQL')
    const editor = page.getByRole('textbox', { name: 'Query' })
    await editor.waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')

    // Completion: the columns of the table that the query names, with what they mean.
    await editor.click()
    await page.keyboard.type('select tran from sales_by_day')
    for (let step = 0; step < ' from sales_by_day'.length; step += 1) await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-completionInfo', { hasText: 'how many transactions' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await editor.textContent()).toContain('select transactions from sales_by_day'))

    await page.keyboard.press('Control+Enter')
    await page.getByText('weir analysts create --org demo').last().waitFor()
    await page.getByLabel('Password').fill(pretendPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('90 rows in 0.034 s').waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('null', { exact: true }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Plot' }).click()
    await page.getByRole('img', { name: /transactions along day/ }).waitFor()
    await page.getByLabel(/^As/).selectOption('bars')
    await page.getByLabel(/^Along/).selectOption('region')
    await page.getByText('The first 50 rows').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('query.csv')
    expect(readFileSync(await download.path(), 'utf8').split('\n')).toHaveLength(92)

    await write(page, 'select sleep(3)')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The query was cancelled').waitFor()
    await eventually(() => expect(edge.sql.cancelled()).toBe(1))
    await write(page, 'select all')
    await page.keyboard.press('Control+Enter')
    await page.getByText('There are more:').waitFor()
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('button', { name: 'Show 200 more of 1,000 rows' }).waitFor()
    await write(page, 'select amont')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Maybe you meant').waitFor()

    // The password is this tab's, and gone with the session; it is never in the address.
    expect(page.url()).not.toContain(pretendPassword)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0])
    expect(faultsOf.get(page)).toEqual([])
  })

  it('shows what a link says and runs nothing, and Tab leaves the editor', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const before = edge.sql.ran.length
    const page = await openPage(browser, edge.url)
    await page.evaluate(() => {
      location.hash = '#/sql?q=select+count()%0Afrom+shops'
    })
    await page.getByLabel('API key').fill(keys.demo)
    await page.keyboard.press('Enter')
    await page.getByText('This query came with the link').waitFor()
    const editor = page.getByRole('textbox', { name: 'Query' })
    expect(await editor.textContent()).toContain('select count()from shops')
    await editor.focus()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.className)).not.toBe('editor')
    expect(edge.sql.ran.length).toBe(before)
  })

  it('saves, opens, replaces and deletes queries of the organisation, and undoes nobody’s work', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, subject)
    await visit(page, ['SQL', '#/sql'])
    await page.getByText('None yet').waitFor()
    await page.getByRole('button', { name: 'Which offers bring new customers?' }).click()
    const editor = page.getByRole('textbox', { name: 'Query' })
    await eventually(async () => expect(await editor.textContent()).toContain("org_id = 'demo'"))
    await page.getByLabel('Name', { exact: true }).fill('new customers')
    await page.getByLabel('What it answers').fill('by offer')
    await page.getByRole('button', { name: 'Save as new' }).click()
    await page.getByText('Saved as new customers.').waitFor()
    await write(page, 'select 2')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await eventually(() =>
      expect(edge.sql.saved.get('demo/new customers')).toMatchObject({ query: 'select 2', version: 2 }),
    )
    Object.assign(edge.sql.saved.get('demo/new customers') ?? {}, { version: 7 })
    await write(page, 'select 3')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('has saved this query meanwhile').waitFor()
    await page.getByRole('button', { name: 'Open new customers' }).click()
    await eventually(async () => expect(await editor.textContent()).toContain('select 2'))
    await page.getByRole('button', { name: 'Delete new customers' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByText('None yet').waitFor()
    await page.getByLabel('Look for').fill('favourite')
    await page.locator('summary', { hasText: 'customers_overview' }).click()
    await page.getByText('the shops among the favourites of this customer').waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(faultsOf.get(page)).toEqual([])
  })

  it('fits a phone in the dark, and is not there for a key without the scope', async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const look = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const page = await openConsole(browser, subject, look)
    await visit(page, ['SQL', '#/sql'])
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    const reader = await openConsole(browser, { url: edge.url, key: keys.reader })
    expect(await reader.getByRole('link', { name: 'SQL', exact: true }).count()).toBe(0)
  })
})
