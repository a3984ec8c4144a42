import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { type JustDone, WhatWasDone } from '../../components/just-done.js'
import { Card, PageHead } from '../../components/shown.js'
import { useAnswer } from '../../frame/use-answer.js'
import { ExportPerson } from './export.js'
import { ForgetPerson } from './forget.js'
import { ErasureList } from './list.js'

const lookEvery = 2_000

/** What is kept about a person, and how one is forgotten. */
export const PersonsPage = (): VNode => {
  const { me, org } = useSession()
  const isOwn = org === me.org_id
  const mayErase = may(me, 'persons:erase')
  const mayExport = may(me, 'persons:read')
  const [isRunning, setRunning] = useState(true)
  const asked = useAnswer<'/v1/erasures'>(mayErase ? '/v1/erasures' : undefined, isRunning ? { every: lookEvery } : {})
  const erasures = asked.answer?.erasures
  const runs = erasures?.some(({ status }) => status === 'running') ?? false
  useEffect(() => setRunning(runs || erasures === undefined), [runs, erasures === undefined])
  const [done, setDone] = useState<JustDone>()
  const [times, setTimes] = useState(0)

  const onAsked = (words: string) => {
    setDone({ words })
    setTimes((before) => before + 1)
    asked.reload()
  }
  return html`
    <${PageHead} title="Persons" about=${html`What <strong>${org}</strong> keeps about one person, and how that person is forgotten. A person is a customer or a user.`}>
      ${mayErase && html`<button type="button" onClick=${asked.reload}>Refresh</button>`}
    <//>
    ${done && html`<${WhatWasDone} done=${done} onSeen=${() => setDone(undefined)} />`}
    ${
      isOwn
        ? html`<div class="two">
      ${mayExport && html`<${ExportPerson} key=${times} />`}
      ${mayErase && html`<${ForgetPerson} onCounted=${asked.reload} onAsked=${onAsked} />`}
    </div>`
        : html`<${Card} title="Another organisation"><p>What another organisation keeps about a person is exported, and forgotten, with a key of theirs, or by <code>weir persons export</code> and <code>weir erasures</code> on the server.</p><//>`
    }
    ${mayErase && html`<${ErasureList} ...${asked} erasures=${erasures} hasForm=${isOwn} />`}`
}
