import { mkdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startBrowser } from './browser.js'
import { fill } from './pretend/fill.js'
import { keys, startPretendEdge } from './pretend/pretend-edge.js'
import { pretendPassword } from './pretend/sql.js'

// Pictures of every page, to be looked at: npx tsx test/console/pictures.ts <folder> [page …]
// With WEIR_URL, WEIR_KEY and WEIR_OPERATOR_KEY they are of a system that runs, of which they show a few records more.

/** What the pictures are of: an edge, two keys, a shop that has changed, a request of offers, and webhooks: one that works, one that fails, one that is disabled. */
type Shown = {
  url: string
  key: string
  operatorKey: string
  shop: string
  request: string
  webhooks: string[]
  stop: () => Promise<void>
}

const [folder = '/tmp/pictures', ...wanted] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const { WEIR_URL: url, WEIR_KEY: key = '', WEIR_OPERATOR_KEY: operatorKey = '' } = process.env
const shown = url ? await showReal(url) : await showPretended()
const pages: Record<string, string> = {
  overview: '#/overview',
  'overview-of-a-month': '#/overview?span=30d',
  search: '#/types',
  upload: '#/upload',
  'upload-of-excel': '#/upload',
  requests: '#/requests',
  request: `#/requests/${shown.request}`,
  rejected: '#/rejected?since=all',
  group: '#/rejected/group?type=offers',
  waiting: '#/waiting',
  journey: `#/journey/shops/${shown.shop}`,
  types: '#/types',
  type: '#/types?type=offers',
  topics: '#/topics',
  topic: '#/topics/weir.accepted.offers',
  webhooks: '#/webhooks',
  'webhooks-first': '#/webhooks',
  webhook: `#/webhooks/${shown.webhooks[0]}`,
  'webhook-failing': `#/webhooks/${shown.webhooks[1]}`,
  'webhook-disabled': `#/webhooks/${shown.webhooks[2]}`,
  persons: '#/persons',
  'persons-counted': '#/persons',
  'persons-first': '#/persons',
  quality: '#/quality',
  analytics: '#/analytics?time=90',
  sql: '#/sql?q=select+day,+sum(transactions)+as+transactions,+sum(amount)+as+amount%0Afrom+sales_by_day+--+all+shops%0Awhere+region+%3D+%27GB%27%0Agroup+by+day%0Aorder+by+day',
  'sql-first': '#/sql',
  keys: '#/keys?org=demo',
  'own-keys': '#/keys',
  audit: '#/audit',
  organisations: '#/organisations',
}
// Without a manager's key of a system that runs, the operator's shows those pages.
const managerKey = url ? shown.operatorKey : keys.manager
const byKey: Record<string, string> = {
  'persons-first': url ? shown.key : keys.other,
  'webhooks-first': url ? shown.key : keys.other,
  keys: shown.operatorKey,
  'own-keys': managerKey,
  audit: managerKey,
  organisations: shown.operatorKey,
}
const looks = [
  { name: 'light-wide', colorScheme: 'light', viewport: { width: 1360, height: 900 } },
  { name: 'dark-wide', colorScheme: 'dark', viewport: { width: 1360, height: 900 } },
  { name: 'light-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'dark-phone', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const
const csv =
  'offer_id,shop_id,name,type,value,region\n' +
  `${crypto.randomUUID()},${shown.shop},Ten off,percentage,10,GB\n${crypto.randomUUID()},${shown.shop},Bad,percentage,-1,GB\n${crypto.randomUUID()},${shown.shop},Worse,fixed,5,Great Britain\n`

const browser = await startBrowser()
for (const { name, ...look } of looks) {
  const context = await browser.newContext(look)
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && process.stdout.write(`${name}: ${message.text()}\n`))
  page.on('pageerror', (error) => process.stdout.write(`${name}: ${error.stack}\n`))
  await page.goto(`${shown.url}/console/`)
  await page.waitForSelector('#key')
  process.stdout.write(`${name}: first view after ${await firstViewOf(page)} ms\n`)
  if (wanted.length === 0) await page.screenshot({ path: `${folder}/sign-in-${name}.png` })
  for (const [title, hash] of Object.entries(pages)) {
    if (wanted.length > 0 && !wanted.includes(title)) continue
    const signedIn = byKey[title] ?? shown.key
    await page.evaluate((text) => sessionStorage.setItem('weir.key', text), signedIn)
    await page.evaluate((to) => {
      location.hash = to
    }, hash)
    await page.reload()
    await page.waitForSelector('h1')
    if (title === 'upload') {
      await page.setInputFiles('#file', { name: 'offers.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      await page.waitForSelector('text=would be refused')
    }
    if (title === 'upload-of-excel') {
      const buffer = Buffer.from(
        `Offer ID;Shop ID;Titel;Type;Value;Gültig ab;Farbe\n${crypto.randomUUID()};${shown.shop};5 Euro für Bücher;fixed;4,95;31.05.2024 12:00;rot\n`,
        'latin1',
      )
      await page.setInputFiles('#file', { name: 'offers.csv', mimeType: 'text/csv', buffer })
      await page.getByText('The text is not UTF-8').waitFor()
      await page.getByLabel('Encoding').selectOption('windows-1252')
      await page.getByLabel('What the column Titel becomes').selectOption('name')
      await page.getByText('would be accepted').first().waitFor()
    }
    if (title === 'search') {
      await page.getByLabel('Find an id').fill(crypto.randomUUID())
      await page.keyboard.press('Enter')
      await page.locator('.found').waitFor()
    }
    if (title === 'sql') {
      await page.getByLabel('Password').fill(pretendPassword)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('button', { name: 'Plot' }).click()
    }
    if (title === 'webhook') await page.locator('td summary').nth(6).click()
    if (title === 'persons-counted') {
      await page.getByRole('radio', { name: 'Pseudonymise' }).check()
      await page.locator('#forget-person').fill('anna')
      await page.getByRole('button', { name: 'Count what there is' }).click()
      await page.getByRole('button', { name: 'Forget the person' }).click({ timeout: 60_000 })
    }
    if (title === 'group') await page.getByRole('button', { name: 'Mend it' }).first().click()
    await page.waitForTimeout(url ? 2000 : 700)
    await page.screenshot({ path: `${folder}/${title}-${name}.png`, fullPage: true })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (overflow > 0) process.stdout.write(`${title} ${name}: the page is ${overflow} px too wide\n`)
  }
  await context.close()
}
await browser.close()
await shown.stop()
process.exit(0)

/** Milliseconds from the first request to the first thing painted. */
function firstViewOf(page: Page): Promise<number> {
  return page.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1))
}

async function showPretended(): Promise<Shown> {
  const edge = await startPretendEdge()
  fill(edge)
  const change = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${keys.manager}`, 'content-type': 'application/json' }
    const answer = await fetch(`${edge.url}/v1/keys${path}`, { method, headers, body: JSON.stringify(body) })
    return (await answer.json()) as { key_id: string }
  }
  for (const name of ['nightly upload', 'old till']) {
    const { key_id } = await change('POST', '', { name, scopes: ['shops:write', 'offers:write'] })
    if (name === 'old till') await change('POST', `/${key_id}/revoke`, {})
  }
  await change('PATCH', '/k_demo', { name: 'warehouse' })
  const shop = [...edge.world.stored.values()].find(({ type, versions }) => type === 'shops' && versions.length > 1)
  const request = edge.world.requests.find(({ type }) => type === 'offers')
  return {
    url: edge.url,
    key: keys.demo,
    operatorKey: keys.operator,
    shop: shop?.id ?? '',
    request: String(request?.request_id),
    webhooks: edge.webhooks.known.map(({ webhook }) => webhook.webhook_id),
    stop: async () => void (await edge.stop()),
  }
}

async function showReal(edgeUrl: string): Promise<Shown> {
  const upload = async (path: string, records: Record<string, unknown>[]): Promise<string> => {
    const answer = await fetch(`${edgeUrl}/v1/data/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records }),
    })
    const { request_id: requestId = '' } = (await answer.json()) as { request_id?: string }
    process.stdout.write(`${path}: ${answer.status}\n`)
    return requestId
  }
  const shop = crypto.randomUUID()
  const late = crypto.randomUUID()
  const offerOf = (shopId: string, over: Record<string, unknown> = {}) => ({
    offer_id: crypto.randomUUID(),
    shop_id: shopId,
    name: 'Ten percent off on weekdays',
    type: 'percentage',
    value: 10,
    region: 'GB',
    ...over,
  })
  await upload('offers?missing_references=wait&wait_for=7d', [offerOf(shop), offerOf(late), offerOf(late)])
  await upload('shops', [{ shop_id: shop, name: 'Corner Books', region: 'GB' }])
  await upload('shops', [{ shop_id: shop, name: 'Corner Books', region: 'Mars' }])
  await upload('shops', [{ shop_id: shop, name: 'Corner Books & Coffee', region: 'GB' }])
  const bad = [{ value: -1 }, { region: 'Great Britain' }, { name: '' }, { shop_id: crypto.randomUUID() }]
  const request = await upload('offers', [offerOf(shop), ...bad.map((over) => offerOf(shop, over))])
  await wait(5_000)
  const webhooksOf = async (): Promise<string[]> => {
    const answer = await fetch(`${edgeUrl}/v1/webhooks`, { headers: { authorization: `Bearer ${key}` } })
    return ((await answer.json()) as { webhooks: { webhook_id: string }[] }).webhooks.map((each) => each.webhook_id)
  }
  return { url: edgeUrl, key, operatorKey, shop, request, webhooks: await webhooksOf(), stop: async () => {} }
}
