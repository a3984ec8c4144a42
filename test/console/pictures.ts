import { mkdirSync } from 'node:fs'
import { startBrowser } from './browser.js'
import { fill } from './pretend/fill.js'
import { keys, startPretendEdge } from './pretend/pretend-edge.js'

// Pictures of every page, to be looked at: npx tsx --conditions=source test/console/pictures.ts <folder> [page …]
const [folder = '/tmp/pictures', ...wanted] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const edge = await startPretendEdge()
fill(edge)
const shop = [...edge.world.stored.values()].find(({ type, versions }) => type === 'shops' && versions.length > 1)?.id
const request = edge.world.requests.find(({ type }) => type === 'offers')?.request_id
const pages: Record<string, string> = {
  overview: '#/overview',
  upload: '#/upload',
  requests: '#/requests',
  request: `#/requests/${request}`,
  rejected: '#/rejected?since=all',
  group: '#/rejected/group?type=offers',
  waiting: '#/waiting',
  journey: `#/journey/shops/${shop}`,
  types: '#/types',
  type: '#/types?type=offers',
  topics: '#/topics',
  topic: '#/topics/weir.accepted.offers',
  quality: '#/quality',
  keys: '#/keys',
}
const looks = [
  { name: 'light-wide', colorScheme: 'light', viewport: { width: 1360, height: 900 } },
  { name: 'dark-wide', colorScheme: 'dark', viewport: { width: 1360, height: 900 } },
  { name: 'light-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'dark-phone', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const
const csv =
  'offer_id,shop_id,name,type,value,region\n' +
  `${crypto.randomUUID()},${shop},Ten off,percentage,10,GB\n${crypto.randomUUID()},${shop},Bad,percentage,-1,GB\n${crypto.randomUUID()},${shop},Worse,fixed,5,Great Britain\n`

const browser = await startBrowser()
for (const { name, ...look } of looks) {
  const context = await browser.newContext(look)
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && process.stdout.write(`${name}: ${message.text()}\n`))
  page.on('pageerror', (error) => process.stdout.write(`${name}: ${error.stack}\n`))
  await page.goto(`${edge.url}/console/`)
  await page.waitForSelector('#key')
  if (wanted.length === 0) await page.screenshot({ path: `${folder}/sign-in-${name}.png` })
  for (const [title, hash] of Object.entries(pages)) {
    if (wanted.length > 0 && !wanted.includes(title)) continue
    const key = title === 'keys' ? keys.operator : keys.demo
    await page.evaluate((text) => sessionStorage.setItem('weir.key', text), key)
    await page.evaluate((to) => {
      location.hash = to
    }, hash)
    await page.reload()
    await page.waitForSelector('h1')
    if (title === 'upload') {
      await page.setInputFiles('#file', { name: 'offers.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      await page.waitForSelector('text=would be refused')
    }
    if (title === 'group') await page.getByRole('button', { name: 'Mend it' }).first().click()
    await page.waitForTimeout(700)
    await page.screenshot({ path: `${folder}/${title}-${name}.png`, fullPage: true })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (overflow > 0) process.stdout.write(`${title} ${name}: the page is ${overflow} px too wide\n`)
  }
  await context.close()
}
await browser.close()
await edge.stop()
process.exit(0)
