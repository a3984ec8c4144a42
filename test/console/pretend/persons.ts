import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Erasure } from '../../../clients/typescript/src/endpoints.js'

type Asked = {
  method: string
  pathname: string
  org: string
  body: Record<string, unknown>
  accept: string
  response: ServerResponse
}

const steps = ['reading the topics', 'waiting for Kafka to compact', 'done']
const found = [
  { where: 'weir.accepted.customers', count: 2 },
  { where: 'weir.submitted.customers', count: 2 },
  { where: 'weir.interactions', count: 1204 },
  { where: 'weir.customers_log', count: 2 },
  { where: 'integrity.entities.id', count: 1 },
]
export const proofOf = (erasureId: string) => ({
  report: JSON.stringify({ erasure_id: erasureId, left: [] }),
  ...{ signature: 'c2lnbmVk', public_key: '-----BEGIN PUBLIC KEY-----\n' },
})

/** /v1/erasures and exports, from memory: what runs is a step further each time that it is looked at, so the page has to look by itself. */
export const createPretendPersons = () => {
  const known: { org: string; person: string; erasure: Erasure }[] = []
  /** Of whom something is kept; of all others nothing is. */
  const kept = new Set<string>()

  const add = (org: string, person: string, given: Partial<Erasure> = {}): Erasure => {
    const erasure: Erasure = {
      ...{ erasure_id: randomUUID(), mode: 'erase', afterwards: 'refuse', dry_run: false, status: 'running' },
      ...{ step: 'asked', asked_at: new Date().toISOString(), ended_at: null, found: null, problem: null },
      ...given,
    }
    known.unshift({ org, person, erasure })
    return erasure
  }
  const advance = ({ person, erasure }: (typeof known)[number]): void => {
    if (erasure.status !== 'running' || erasure.problem !== null) return
    const step = steps[steps.indexOf(erasure.step) + 1] ?? 'done'
    const isDone = step === 'done' || (erasure.dry_run && step === 'waiting for Kafka to compact')
    if (step === 'reading the topics') erasure.found = kept.has(person) ? found : []
    Object.assign(erasure, isDone ? { status: 'done', step: 'done', ended_at: new Date().toISOString() } : { step })
    if (isDone && !erasure.dry_run) kept.delete(person)
  }

  const answer = ({ method, pathname, org, body, accept, response }: Asked): boolean => {
    const write = (status: number, type: string, text: string) => {
      response.writeHead(status, { 'content-type': type }).end(text)
      return true
    }
    const json = (status: number, value: unknown) => write(status, 'application/json', JSON.stringify(value))
    const [, person] = /^\/v1\/persons\/([^/]+)\/export$/.exec(pathname) ?? []
    if (person) {
      const id = decodeURIComponent(person)
      if (!kept.has(id)) return json(404, { message: 'nothing of yours is kept about a person with this id' })
      if (accept === 'text/csv')
        return write(200, 'text/csv', `part,type,id,version,time,field,value\nperson,,,,,id,${id}\n`)
      return json(200, { person: { id }, records: [] })
    }
    const match = /^\/v1\/erasures(?:\/([^/]+))?$/.exec(pathname)
    if (!match) return false
    const own = known.filter((each) => each.org === org)
    if (match[1]) {
      const one = own.find(({ erasure }) => erasure.erasure_id === match[1])
      if (!one) return json(404, { message: 'your organisation has no erasure with this erasure_id' })
      advance(one)
      const { erasure } = one
      const hasProof = erasure.status === 'done' && !erasure.dry_run
      return json(200, { ...erasure, proof: hasProof ? proofOf(erasure.erasure_id) : null })
    }
    if (method === 'POST') {
      const id = String(body.person_id)
      if (id.includes('\0')) return json(400, { message: 'person_id must be the id of a person' })
      const { mode, afterwards, dry_run } = body as Pick<Erasure, 'mode' | 'afterwards' | 'dry_run'>
      return json(202, add(org, id, { mode, afterwards, dry_run: dry_run === true }))
    }
    for (const each of own.filter(({ erasure }) => !erasure.dry_run)) advance(each)
    return json(200, { erasures: own.map(({ erasure }) => erasure) })
  }
  return { answer, add, kept, known }
}

/** Erasures to look at: one that waits for something, one that is done, one of which there was nothing, and a count. */
export const fillPersons = ({ add, kept }: ReturnType<typeof createPretendPersons>, org: string): void => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const done = { status: 'done', step: 'done' } as const
  kept.add('anna')
  add(org, 'dora', { ...done, asked_at: ago(60 * 24 * 9), ended_at: ago(60 * 24 * 9 - 2), found: [] })
  add(org, 'cleo', { ...done, mode: 'pseudonymise', asked_at: ago(200), ended_at: ago(197), found })
  add(org, 'bert', { ...done, dry_run: true, asked_at: ago(31), ended_at: ago(30), found })
  add(org, 'bert', {
    ...{ asked_at: ago(29), step: 'waiting for Kafka to compact', found },
    problem: '2 places still have something of it, such as weir.rejected/0@417; it is done again',
  })
}
