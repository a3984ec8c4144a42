import type { ComponentChildren, ComponentType, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Me } from '../../typescript/src/endpoints.js'
import { may, useSession } from '../api/session.js'
import { html } from '../components/html.js'
import { Choose, Confirm, PageHead } from '../components/shown.js'
import { ownZone, showUtc, useUtc } from '../components/time-zone.js'
import { AnalyticsPage } from '../pages/analytics/analytics.js'
import { JourneyPage } from '../pages/journey.js'
import { AuditPage } from '../pages/keys/audit.js'
import { KeysPage } from '../pages/keys/keys.js'
import { OrganisationsPage } from '../pages/organisations.js'
import { OverviewPage } from '../pages/overview.js'
import { PersonsPage } from '../pages/persons/persons.js'
import { QualityPage } from '../pages/quality.js'
import { RefusedGroupPage } from '../pages/rejected/group.js'
import { RejectedPage } from '../pages/rejected/rejected.js'
import { RequestPage } from '../pages/request.js'
import { RequestsPage } from '../pages/requests.js'
import { SqlPage } from '../pages/sql-loaded.js'
import { TopicsPage } from '../pages/topics.js'
import { TypesPage } from '../pages/types.js'
import { UploadRunPage } from '../pages/upload/run.js'
import { UploadPage } from '../pages/upload/upload.js'
import { WaitingPage } from '../pages/waiting.js'
import { WebhookPage } from '../pages/webhooks/webhook.js'
import { WebhooksPage } from '../pages/webhooks/webhooks.js'
import { useUpload } from '../uploads/use-upload.js'
import { Boundary } from './boundary.js'
import { goTo, keepOrg, linkTo, orgIn, type PageProps, type Route, useRoute } from './route.js'
import { SearchBox } from './search.js'
import { UploadProgress } from './upload-progress.js'
import { useAnswer } from './use-answer.js'

type Page = { name: string; title: string; page: ComponentType<PageProps>; isFor: (me: Me) => boolean }

const writes = (me: Me): boolean => may(me, 'data:write') || Boolean(me.scopes?.some((scope) => isUpload.test(scope)))
const isUpload = /^(?!rejections|waiting|keys).*:write$/
const manages = (me: Me): boolean => me.is_operator || may(me, 'keys:manage')

const pages: Page[] = [
  { name: 'overview', title: 'Overview', page: OverviewPage, isFor: (me) => may(me, 'requests:read') },
  { name: 'upload', title: 'Upload', page: UploadPage, isFor: writes },
  { name: 'requests', title: 'Requests', page: RequestsPage, isFor: (me) => may(me, 'requests:read') },
  { name: 'rejected', title: 'Rejected', page: RejectedPage, isFor: (me) => may(me, 'rejections:read') },
  { name: 'waiting', title: 'Waiting', page: WaitingPage, isFor: (me) => may(me, 'waiting:read') },
  { name: 'journey', title: 'Journey', page: JourneyPage, isFor: (me) => may(me, 'data:read') },
  { name: 'quality', title: 'Quality', page: QualityPage, isFor: (me) => may(me, 'rejections:read') },
  { name: 'analytics', title: 'Analytics', page: AnalyticsPage, isFor: (me) => may(me, 'analytics:read') },
  { name: 'sql', title: 'SQL', page: SqlPage, isFor: (me) => may(me, 'analytics:read') },
  { name: 'types', title: 'Types', page: TypesPage, isFor: () => true },
  { name: 'topics', title: 'Topics', page: TopicsPage, isFor: () => true },
  {
    name: 'persons',
    title: 'Persons',
    page: PersonsPage,
    isFor: (me) => may(me, 'persons:read') || may(me, 'persons:erase'),
  },
  { name: 'webhooks', title: 'Webhooks', page: WebhooksPage, isFor: (me) => may(me, 'webhooks:manage') },
  { name: 'keys', title: 'Keys', page: KeysPage, isFor: manages },
  { name: 'audit', title: 'What was done', page: AuditPage, isFor: manages },
  {
    name: 'organisations',
    title: 'Organisations',
    page: OrganisationsPage,
    isFor: (me) => me.is_operator && may(me, 'requests:read'),
  },
]
// Pages behind a page, with an address of their own.
const inner: Record<string, ComponentType<PageProps>> = {
  requests: RequestPage,
  rejected: RefusedGroupPage,
  upload: UploadRunPage,
  webhooks: WebhookPage,
}

/** What stands around every page: where one can go, who is signed in, and whether the service can be reached. */
export const Frame = ({ isNew }: { isNew: boolean }): VNode => {
  const session = useSession()
  // All pages write their times anew.
  useUtc()
  const route = useRoute()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const known = pages.filter(({ isFor }) => isFor(session.me))
  const current = known.find(({ name }) => name === route.path[0]) ?? (route.path.length === 0 ? known[0] : undefined)
  const address = route.path.join('/')

  useEffect(() => {
    if (!session.me.is_operator) return
    // A link that names no organisation means the one that is looked at.
    const named = orgIn(route.query)
    if (named) session.setOrg(named)
    else if (session.org !== session.me.org_id) keepOrg(route, session.org)
  }, [route])

  const isFirst = useRef(true)
  // Together with the page, and not a moment later: who has begun to type by then would type the rest nowhere.
  useLayoutEffect(() => {
    setMenuOpen(false)
    // A screen reader reads the new page's heading. Not on the first page, unless somebody has just signed in to see it.
    if (!isFirst.current || isNew) main.current?.querySelector('h1')?.focus({ preventScroll: true })
    if (!isFirst.current) scrollTo(0, 0)
    isFirst.current = false
  }, [address])

  const closeMenu = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isMenuOpen) return
    setMenuOpen(false)
    menu.current?.focus()
  }
  return html`
    <div class="frame">
      <a class="skip" href="#page" onClick=${(event: Event) => skip(event, main.current)}>Skip to the page</a>
      <header class="top" onKeyDown=${closeMenu}>
        <a class="brand" href=${linkTo([])}><span class="mark"></span>Weir</a>
        <button class="menu" type="button" ref=${menu} aria-expanded=${isMenuOpen} aria-controls="menu" onClick=${() => setMenuOpen(!isMenuOpen)}>Menu</button>
        ${may(session.me, 'requests:read') && html`<${SearchBox} />`}
        <${ChooseZone} />
        <${UploadProgress} />
        <div class="who">
          ${session.me.is_operator ? html`<${ChooseOrganisation} onChoose=${(chosen: string) => goTo(linkTo(route.path, { org: chosen }))} />` : html`<span class="org" title=${`key ${session.me.key_id}`}>${session.org}</span>`}
          <${SignOut} />
        </div>
      </header>
      <nav id="menu" onKeyDown=${closeMenu} class=${isMenuOpen ? 'side open' : 'side'} aria-label="Pages">
        <div><ul>
          ${known.map(({ name, title }) => html`<li key=${name}><a href=${linkTo([name])} aria-current=${current?.name === name ? 'page' : null}>${title}</a></li>`)}
        </ul>
        <p class="soft small"><a href="/docs">HTTP reference</a><br /><a href="/downloads/">Downloads</a></p></div>
      </nav>
      <${Reach} />
      <main id="page" ref=${main} tabindex="-1">
        ${current ? html`<${OfOrganisation} name=${current.name}><${Boundary} key=${`${session.org} ${address}`} place=${route.query.toString()} plain=${linkTo(route.path)}><${Shown} page=${current} route=${route} /><//><//>` : html`<${NotFound} name=${route.path[0]} known=${known} />`}
      </main>
    </div>`
}

const Shown = ({ page, route }: { page: Page; route: Route }): VNode => {
  const rest = route.path.slice(1)
  const Inner = rest.length > 0 ? inner[page.name] : undefined
  return html`<${Inner ?? page.page} rest=${rest} query=${route.query} />`
}

const ChooseZone = (): VNode => {
  const isUtc = useUtc()
  return html`<select class="zone" aria-label="Times are shown in" title="The zone of the times on all pages" value=${isUtc ? 'utc' : ''} onChange=${(event: Event) => showUtc((event.target as HTMLSelectElement).value === 'utc')}>
    <option value="">${ownZone() === 'UTC' ? 'local (UTC)' : ownZone()}</option><option value="utc">UTC</option>
  </select>`
}

const SignOut = (): VNode => {
  const { signOut } = useSession()
  if (useUpload()?.state === 'running')
    return html`<${Confirm} isDanger=${false} question="The upload stops here." action="Stop it, sign out" onYes=${() => signOut()}>Sign out<//>`
  return html`<button type="button" onClick=${() => signOut()}>Sign out</button>`
}

const skip = (event: Event, main: HTMLElement | null) => {
  event.preventDefault()
  main?.focus()
}

/** Says so while the service cannot be reached; pages ask again by themselves when it is back. */
const Reach = (): VNode => {
  const { connection } = useSession()
  const [reach, setReach] = useState(connection.now())
  useEffect(() => connection.follow(() => setReach(connection.now())), [connection])
  return html`<div class="reach" role="status">
    ${reach.isLost && html`<p class="notice bad"><strong>The service cannot be reached.</strong> This page shows what was last known, and goes on by itself once it is back.</p>`}
  </div>`
}

// A list that can still be looked through; of more organisations, those whose ids begin with what is typed.
const mostNames = 200

const ChooseOrganisation = ({ onChoose }: { onChoose: (org: string) => void }): VNode => {
  const { org, me } = useSession()
  const [prefix, setPrefix] = useState('')
  const asked = new URLSearchParams({ limit: String(mostNames), ...(prefix && { prefix }) })
  const { answer } = useAnswer<'/v1/operator/organisations'>(`/v1/operator/organisations?${asked}`)
  const areMany = useRef(false)
  areMany.current ||= Boolean(answer?.next_cursor)
  const names = [...new Set([me.org_id, org, ...(answer?.organisations ?? []).map((each) => each.org)])].sort()
  const type = (event: Event) => setPrefix((event.target as HTMLInputElement).value.trim().toLowerCase())
  return html`
    ${areMany.current && html`<input type="search" aria-label="Id begins with" placeholder="id begins with …" maxlength="63" spellcheck=${false} value=${prefix} onInput=${type} />`}
    <${Choose} label="Organisation" value=${org} options=${names.map((name) => [name, name])} onChange=${onChoose} />`
}

/** A page about the organisation that is looked at, as all but one are; where an operator looks at one that is not there, that is said instead. */
const OfOrganisation = ({ name, children }: { name: string; children?: ComponentChildren }): VNode => {
  const { org, me } = useSession()
  // Of those that begin so, the one of exactly this id comes first.
  const asked = new URLSearchParams({ prefix: org, limit: '1' })
  const { answer } = useAnswer<'/v1/operator/organisations'>(
    org === me.org_id || name === 'organisations' ? undefined : `/v1/operator/organisations?${asked}`,
  )
  if (!answer || answer.organisations[0]?.org === org) return html`${children}`
  return html`<${PageHead} title=${`There is no organisation ${org}`} /><p>It was deleted, with all that was kept of it, or there never was one. Another one is chosen above.</p>`
}

const NotFound = ({ name, known }: { name: string | undefined; known: Page[] }): VNode => html`
  <${PageHead} title=${pages.some((page) => page.name === name) ? 'Your key may not see this page' : 'There is no such page'} />
  <p>Your key shows you ${known.map(({ name, title }, index) => html`${index > 0 && ', '}<a href=${linkTo([name])}>${title}</a>`)}.</p>`
