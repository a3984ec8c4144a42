import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import type { createWeir, Interaction } from '../../../clients/typescript/src/index.js'
import { findChromium, noChromium, startBrowser } from '../../console/browser.js'
import { eventually } from '../../support/eventually.js'

// A page at another origin than the service, in a real browser: what it holds has to leave after the page itself is gone.

type Came = { key: string; users: string[] }
const came: Came[] = []
let browser: Browser
// One for all pages: who closes a tab does not close the browser.
let context: BrowserContext
let service: Server
let site: Server
let isSlow = false

const listen = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
// Assigned in the page itself: what is given to `evaluate` has gone through Vitest, which changes its imports.
const html = `<!doctype html><title>a shop</title>
<script type="module">import { createWeir } from '/weir.js'; globalThis.createWeir = createWeir</script>`
type InPage = {
  createWeir: typeof createWeir
  recorder: ReturnType<ReturnType<typeof createWeir>['recorder']>
}
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** As the edge answers: to a preflight, and to interactions that are all accepted. */
const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const cors = { 'access-control-allow-origin': urlOf(site), 'access-control-max-age': '0' }
  if (request.method === 'OPTIONS') {
    // By then the page is gone: a request that does not outlive it is never sent.
    await wait(500)
    const headers = 'authorization, content-type, idempotency-key'
    response.writeHead(204, { ...cors, 'access-control-allow-headers': headers }).end()
    return
  }
  const { records } = JSON.parse(await text(request)) as { records: { user_id: string }[] }
  came.push({ key: String(request.headers['idempotency-key']), users: records.map(({ user_id }) => user_id) })
  if (isSlow) return
  const batches = [{ batch: 1, status: 200, data: { batch_id: 'b', error: null, records: records.length } }]
  response.writeHead(200, { ...cors, 'content-type': 'application/json' })
  response.end(JSON.stringify({ request_id: 'r', type: 'interactions', batches }))
}

beforeAll(async () => {
  if (!findChromium()) return
  const entry = join(packageRoot, 'clients/typescript/src/index.ts')
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib: { entry, formats: ['es'] }, minify: false },
  })
  const [script] = [built].flat().flatMap((each) => ('output' in each ? each.output : []))
  const code = script?.type === 'chunk' ? script.code : ''
  site = await listen(({ url }, response) => {
    const isScript = url === '/weir.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? code : html)
  })
  service = await listen((request, response) => void take(request, response))
  browser = await startBrowser()
  context = await browser.newContext()
})
afterAll(async () => {
  await browser?.close()
  for (const server of [site, service]) {
    server?.closeAllConnections()
    server?.close()
  }
})

/** A page with a recorder that sends nothing by itself for an hour, and these interactions in it. */
const openPage = async (users: string[]): Promise<Page> => {
  const page = await context.newPage()
  await page.goto(urlOf(site))
  await page.evaluate(
    ({ url, given }) => {
      const inPage = globalThis as unknown as InPage
      inPage.recorder = inPage.createWeir({ url, key: 'weir_key' }).recorder({ everyMs: 3_600_000 })
      for (const user_id of given)
        inPage.recorder.record({
          interaction_type: 'PAGE_VIEW',
          user_id,
          event_timestamp: 1_750_000_000,
        } as Interaction)
    },
    { url: urlOf(service), given: users },
  )
  return page
}
const usersOf = (prefix: string) => came.filter(({ users }) => users.some((user) => user.startsWith(prefix)))

it('sends what a page holds when it is closed, and when it is left for another one', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  const closed = await openPage(['closed-1', 'closed-2', 'closed-3'])
  expect(usersOf('closed')).toEqual([])
  await closed.close({ runBeforeUnload: true })
  await eventually(() =>
    expect(usersOf('closed').map(({ users }) => users)).toContainEqual(['closed-1', 'closed-2', 'closed-3']),
  )
  const left = await openPage(['left-1'])
  await left.goto('about:blank')
  await eventually(() => expect(usersOf('left').map(({ users }) => users)).toContainEqual(['left-1']))
})

it('sends once more, with the same key, what was under way when its page was left', async ({ skip }) => {
  if (!findChromium()) skip(noChromium)
  isSlow = true
  const page = await openPage(['slow-1'])
  await page.evaluate(() => void (globalThis as unknown as InPage).recorder.flush())
  await eventually(() => expect(usersOf('slow')).toHaveLength(1))
  isSlow = false
  await page.close({ runBeforeUnload: true })
  await eventually(() => expect(usersOf('slow').length).toBeGreaterThan(1))
  expect(new Set(usersOf('slow').map(({ key }) => key)).size).toBe(1)
})
