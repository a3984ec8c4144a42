import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TopicEvent } from '../../typescript/src/endpoints.js'
import type { LiveState } from '../api/live.js'
import { may, useSession } from '../api/session.js'
import { followShared } from '../api/shared-live.js'
import { html } from '../components/html.js'
import { LiveBadge, LiveReason } from '../components/live-state.js'
import { Asking, Card, Empty, Json, Name, PageHead, Snippets, Table, When } from '../components/shown.js'
import { count } from '../components/words.js'
import { linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

/** For downstream teams: what can be subscribed to, what is promised about it, and what arrives there now. */
export const TopicsPage = ({ rest: [name] }: PageProps): VNode => {
  const { me } = useSession()
  const asked = useAnswer<'/v1/topics'>('/v1/topics')
  const topic = asked.answer?.topics.find((each) => each.name === name)
  if (name && topic)
    return html`
      <p class="small"><a href=${linkTo(['topics'])}>Topics</a></p>
      <${PageHead} title=${topic.name} about=${topic.about} />
      <div class="two">
        <${Card} title="What is promised"><ul>${topic.promises.map((promise) => html`<li key=${promise}>${promise}</li>`)}</ul><//>
        <${Card} title="How it is kept"><dl class="pairs">
          <dt>key</dt><dd><code>${topic.key}</code></dd>
          <dt>partitions</dt><dd>${topic.partitions}</dd>
          <dt>cleanup</dt><dd>${topic.cleanup}</dd>
          <dt>retention</dt><dd>${topic.retention}</dd>
        </dl><//>
      </div>
      ${may(me, 'data:read') && html`<${LastEvents} topic=${topic.name} />`}
      <${Card} title="A consumer to copy"><${Snippets} label=${`A consumer of ${topic.name}`} texts=${topic.snippets} /><//>
      <${Card} title="Its schema (Avro)"><${Json} value=${topic.schema} label="The Avro schema" /><//>`
  return html`
    <${PageHead} title="Topics" about="What downstream teams can subscribe to on Kafka." />
    <${Asking} ...${asked} has=${asked.answer !== undefined} />
    ${name && asked.answer && html`<p class="notice bad">There is no public topic ${name}.</p>`}
    ${
      asked.answer &&
      html`<${Card}><${Table} label="Topics" isCards head=${html`<th scope="col">Topic</th><th scope="col">What is on it</th><th scope="col">Key</th><th scope="col" class="number">Partitions</th><th scope="col">Kept</th>`}>
      ${asked.answer.topics.map((each) => html`<tr key=${each.name}><td><a class="mono" href=${linkTo(['topics', each.name])}>${each.name}</a></td><td class="text">${each.about}</td><td data-label="key"><${Name} text=${each.key} /></td><td class="number" data-label="partitions">${each.partitions}</td><td class="text" data-label="kept">${each.retention}</td></tr>`)}
    <//><//>`
    }`
}

// The page keeps more events than it shows, so that a search by key finds older ones.
const mostShown = 20
const mostKept = 500

/** The last events of one's own organisation, and each further one as it arrives, unless that is paused. */
const LastEvents = ({ topic }: { topic: string }): VNode => {
  const session = useSession()
  const path = `/v1/topics/${encodeURIComponent(topic)}/events`
  const asked = useAnswer<'/v1/topics/{topic}/events'>(`${path}?limit=100`)
  const [arrived, setArrived] = useState<TopicEvent[]>([])
  const [skipped, setSkipped] = useState(0)
  const [state, setState] = useState<LiveState>({ isOpen: false })
  const [key, setKey] = useState('')
  // The places at which the list stands still; what arrives meanwhile is kept, and shown afterwards.
  const [paused, setPaused] = useState<ReadonlySet<string>>()
  useEffect(() => {
    const ending = new AbortController()
    followShared(session, `${path}/live`, {
      signal: ending.signal,
      onEvent: ({ name, data }) => {
        if (name === 'event') setArrived((before) => newestFirst([data as TopicEvent, ...before]))
        if (name === 'skipped') setSkipped((before) => before + (data as { count: number }).count)
      },
      onState: setState,
      remember: (kept, event) => [...kept, event].slice(-mostShown),
    })
    return () => ending.abort()
  }, [session, path])
  const all = newestFirst([...arrived, ...(asked.answer?.events ?? []).toReversed()])
  const since = paused ? all.filter((event) => !paused.has(placeOf(event))).length : 0
  const wanted = key.trim().toLowerCase()
  const matching = all.filter((event) => (event.key ?? '').toLowerCase().includes(wanted))
  const events = (paused ? matching.filter((event) => paused.has(placeOf(event))) : matching).slice(0, mostShown)
  const pause = () => setPaused(paused ? undefined : new Set(all.map(placeOf)))
  return html`
    <${Card} title=${html`The last events of ${session.org} ${paused ? html`<span class="badge waiting">paused</span>` : html`<${LiveBadge} state=${state} />`}`}>
      <${LiveReason} state=${state} />
      <div class="row">
        <label class="choose">Key contains <input type="search" value=${key} spellcheck=${false} autocomplete="off" onInput=${(event: Event) => setKey((event.target as HTMLInputElement).value)} /></label>
        <button type="button" aria-pressed=${paused !== undefined} onClick=${pause}>${paused ? 'Go on' : 'Pause'}</button>
        <span class="soft small" role="status">${paused && `${count(since)}${since >= mostKept ? ' or more' : ''} came since: going on shows the newest.`}</span>
      </div>
      ${skipped > 0 && html`<p class="soft small">${count(skipped)} came faster than they can be shown, and are left out here; subscribers get all.</p>`}
      <${Asking} ...${asked} has=${events.length > 0} />
      ${asked.answer && all.length === 0 && html`<${Empty} title="No event of yours is on this topic yet."><p>It shows up here by itself once a record is accepted: <a href=${linkTo(['upload'])}>upload one</a>.</p><//>`}
      ${all.length > 0 && events.length === 0 && html`<p class="soft">None of the last ${count(all.length)} events has such a key. A record's journey has all of its events: look for its id above.</p>`}
      <ol class="plain events" aria-live=${paused ? 'off' : 'polite'}>
        ${events.map(
          (event) => html`<li key=${placeOf(event)}>
          <details><summary><code>${event.key ?? 'no key'}</code> <span class="soft small"><${When} at=${event.at} /> · partition ${event.partition} · offset ${event.offset}</span></summary>
          <${Json} value=${event.value} label=${`Event ${event.partition}/${event.offset}`} /></details></li>`,
        )}
      </ol>
    <//>`
}

const placeOf = ({ partition, offset }: TopicEvent): string => `${partition} ${offset}`

/** Each once: what is asked for and what arrives may overlap. */
const newestFirst = (events: readonly TopicEvent[]): TopicEvent[] => {
  const byPlace = new Map(events.map((event) => [placeOf(event), event]))
  return [...byPlace.values()].sort((a, b) => b.at.localeCompare(a.at)).slice(0, mostKept)
}
