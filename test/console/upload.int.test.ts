import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { findChromium, noChromium } from './browser.js'
import { keys } from './pretend/pretend-edge.js'
import { startPretended } from './pretend/start.js'
import { faultsOf, findBarriers, goTo, openConsole } from './scenarios.js'

// An upload that goes on whichever page is shown, in a real browser: a pretended edge answers as agreed.

const { edge, browser } = await startPretended()
const folder = mkdtempSync(join(tmpdir(), 'weir-upload-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fileOf = (name: string, rows: number): string => {
  const path = join(folder, name)
  const lines = Array.from({ length: rows }, (_, n) => `${crypto.randomUUID()},Tag ${n}\n`)
  writeFileSync(path, `tag_id,name\n${lines.join('')}`)
  return path
}

/** The Idempotency-Keys of the parts that were sent, without the upload's own name. */
const sentParts = (page: Page): string[] => {
  const parts: string[] = []
  page.on('request', (request) => {
    const key = request.headers()['idempotency-key']
    if (key) parts.push(key)
  })
  return parts
}

it('goes on in the background, after a reload with what was not answered, and leaves room for another', async ({
  skip,
}) => {
  if (!findChromium()) skip(noChromium)
  const page = await openConsole(browser, { url: edge.url, key: keys.demo })
  const sent = sentParts(page)
  const workers: string[] = []
  page.on('worker', (worker) => workers.push(worker.url()))
  const questions: string[] = []
  page.on('dialog', async (dialog) => {
    questions.push(dialog.type())
    await dialog.accept()
  })
  // Of five parts the first two are answered.
  const isHeld = /-[^01]$/
  await page.route('**/v1/data/tags*', (route, request) =>
    isHeld.test(request.headers()['idempotency-key'] ?? '') ? undefined : route.continue(),
  )
  const path = fileOf('tags.csv', 5000)
  await goTo(page, 'Upload')
  await page.locator('#file').setInputFiles(path)
  await page.getByRole('button', { name: 'Upload the whole file' }).click()
  await page.getByRole('heading', { level: 1, name: 'tags.csv' }).waitFor()
  expect(workers.every((url) => /\/files\/file-worker-[\w-]+\.js$/.test(url))).toBe(true)
  expect(workers.length).toBeGreaterThan(0)
  const progress = page.getByRole('banner').getByRole('link', { name: /tags\.csv/ })
  await eventually(async () => expect(await progress.textContent()).toMatch(/[34]\d %/))

  await goTo(page, 'Types')
  await goTo(page, 'Upload')
  await page.getByLabel('Records of').selectOption('shops')
  await page.getByText('tags.csv is being uploaded').waitFor()
  expect(await progress.textContent()).toMatch(/[34]\d %/)
  await progress.click()
  await page.getByRole('heading', { name: 'Uploading…' }).waitFor()
  expect(await findBarriers(page)).toEqual([])

  await page.reload()
  expect(questions).toEqual(['beforeunload'])
  await page.getByText(/tags\.csv stopped at [34]\d %: choose the same file to go on/).waitFor()
  expect(await findBarriers(page)).toEqual([])
  // Whatever is kept of it, it is no key.
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('weir_')
  const before = sent.splice(0)
  await page.unrouteAll()
  await page.locator('#file').setInputFiles(path)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('heading', { name: 'Uploaded' }).waitFor()
  const run = before[0]?.split('-')[0]
  expect(sent.sort()).toEqual([2, 3, 4].map((part) => `${run}-${part}`))
  expect(edge.world.stored.size).toBe(5000)

  await page.getByRole('link', { name: 'Choose another file' }).click()
  await page.locator('#file').setInputFiles(fileOf('more-tags.csv', 3))
  await page.getByRole('button', { name: 'Upload 3 records' }).click()
  await page.getByText('All of it is accepted: 3 records.').waitFor()
  await goTo(page, 'Upload')
  await page.getByText('Drop a file here').waitFor()
  expect(await page.evaluate(() => localStorage.length)).toBe(0)
  expect(faultsOf.get(page)).toEqual([])
})

itDeep(
  'takes a file of a European Excel for what it is, asks what is not certain, and has its columns mapped',
  async ({ skip }) => {
    if (!findChromium()) skip(noChromium)
    const page = await openConsole(browser, { url: edge.url, key: keys.demo })
    const choose = (name: string, text: string) =>
      page.locator('#file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text, 'latin1') })
    const id = crypto.randomUUID()
    await goTo(page, 'Upload')
    await choose('shops.csv', `Shop ID;Titel;Region;Erfasst;Farbe\r\n${id};Caf\xe9;GB;31.05.2024 12:00;rot\r\n`)
    await page.getByText('The text is not UTF-8.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Encoding').selectOption('windows-1252')
    expect(await page.getByLabel('Cells are separated by').inputValue()).toBe(';')
    await page.getByText(/Left out, because no field of shops is called so: Titel, Erfasst, Farbe/).waitFor()
    await page.getByText(/Without\s+name\s+no record of shops is accepted/).waitFor()
    await page.getByLabel('What the column Titel becomes').selectOption('name')
    await page.getByLabel('What the column Erfasst becomes').selectOption('created')
    await page.getByText('All of the 1 record in this file would be accepted').waitFor()
    expect(await page.getByLabel('Dates').inputValue()).toBe('DD.MM.YYYY')
    await page.getByRole('region', { name: 'The first rows of the file' }).getByText('Café').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Upload 1 record', exact: true }).click()
    await page.getByText('All of it is accepted: 1 record.').waitFor()
    expect(edge.world.stored.get(`demo/shops/${id}`)?.versions.at(-1)?.record).toEqual({
      shop_id: id,
      name: 'Café',
      region: 'GB',
      created: '2024-05-31T12:00',
    })

    // One value for all, where no column has it.
    await page.getByRole('link', { name: 'Choose another file' }).click()
    await choose('shops.csv', `shop_id,name\n${id},Books\n`)
    await page.getByLabel('region', { exact: true }).fill('FR')
    await page.keyboard.press('Tab')
    await page.getByText('All of the 1 record in this file would be accepted').waitFor()
    await page.getByRole('button', { name: 'Upload 1 record', exact: true }).click()
    await page.getByText('All of it is accepted: 1 record.').waitFor()
    expect(edge.world.stored.get(`demo/shops/${id}`)?.versions.at(-1)?.record).toMatchObject({ region: 'FR' })
    expect(faultsOf.get(page)).toEqual([])
  },
)

it('uploads interactions like any other type, from a template too', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const page = await openConsole(browser, { url: edge.url, key: keys.demo })
  await goTo(page, 'Upload')
  await page.getByLabel('Records of').selectOption('interactions')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'A template of interactions, as CSV' }).click(),
  ])
  const [header = '', row = ''] = readFileSync(await download.path(), 'utf8').split('\n')
  const column = header.split(',').indexOf('item_type')
  const wrong = row.split(',').with(column, 'BICYCLE').join(',')
  const path = join(folder, 'interactions.csv')
  writeFileSync(path, [header, row, wrong, row].join('\n'))
  await page.locator('#file').setInputFiles(path)
  await page.getByRole('button', { name: 'Upload 3 records' }).click()
  await page.getByRole('heading', { name: 'Uploaded' }).waitFor()
  await page.getByText('Line 3').waitFor({ state: 'attached' })
  expect(await page.locator('.figures dd').allTextContents()).toEqual(['2', '1', '3'])
  expect(faultsOf.get(page)).toEqual([])
})

it('says before anything is uploaded what will not do, and gives a template that does', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const page = await openConsole(browser, { url: edge.url, key: keys.other })
  const choose = (name: string, text: string | Buffer) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return page.locator('#file').setInputFiles(path)
  }
  await goTo(page, 'Upload')
  await choose('tags.xlsx', 'PK')
  await page.getByText('save it as "CSV UTF-8"').waitFor()
  await choose('tags.csv', 'tag_id\n1\n')
  await page.getByText(/Without\s+name\s+no record of tags is accepted/).waitFor()
  await page.getByText('None of it would be accepted').waitFor()
  await page.getByRole('button', { name: 'Upload 1 record all the same' }).waitFor()
  expect(await findBarriers(page)).toEqual([])

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'A template of tags, as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('tags.csv')
  await choose('tags.csv.gz', gzipSync(readFileSync(await download.path())))
  await page.getByText('All of the 1 record in this file would be accepted').waitFor()
  await page.getByRole('button', { name: 'Upload 1 record', exact: true }).click()
  await page.getByText('All of it is accepted: 1 record.').waitFor()
})
