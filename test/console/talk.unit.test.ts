import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../clients/console/api/connection.js'
import { createEventReader, type LiveEvent } from '../../clients/console/api/live.js'
import { emptyRates, ratesEvents, ratesWith } from '../../clients/console/api/rates.js'
import { may } from '../../clients/console/api/session.js'
import { choiceIn, linkTo, orgIn, readRoute } from '../../clients/console/frame/route.js'

describe('server-sent events', () => {
  const read = (pieces: string[]): LiveEvent[] => {
    const events: LiveEvent[] = []
    const take = createEventReader((event) => events.push(event))
    for (const piece of pieces) take(piece)
    return events
  }

  it('are read whole, wherever the stream is cut', () => {
    const anyEvent = fc.record({ name: fc.constantFrom('rates', 'event', 'history'), data: fc.jsonValue() })
    fc.assert(
      fc.property(fc.array(anyEvent), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(40)), (events, end, cuts) => {
        let text = events
          .map(({ name, data }) => `: alive${end}event: ${name}${end}data: ${JSON.stringify(data)}${end}${end}`)
          .join('')
        const pieces: string[] = []
        for (const cut of cuts) {
          pieces.push(text.slice(0, cut))
          text = text.slice(cut)
        }
        expect(read([...pieces, text])).toEqual(JSON.parse(JSON.stringify(events)))
      }),
    )
  })

  it('leaves out what is not JSON, and comments', () => {
    expect(read([': alive\n\nevent: rates\ndata: {oops\n\nevent: rates\ndata: 1\n\n'])).toEqual([
      { name: 'rates', data: 1 },
    ])
  })
})

describe('live rates', () => {
  const now = Date.UTC(2026, 0, 1, 12)
  const bucket = (at: number, accepted: number) => ({
    name: 'rates',
    data: { at: new Date(at).toISOString(), accepted, refused: 0, waiting: 0, interactions: 0 },
  })

  it('replace what was known of the same bucket, and go on with later ones', () => {
    const first = ratesWith(emptyRates(now), bucket(now, 3))
    const again = ratesWith(first, bucket(now, 7))
    const later = ratesWith(again, bucket(now + 10_000, 2))
    expect(again.accepted.at(-1)).toBe(7)
    expect(later.accepted.slice(-3)).toEqual([7, 0, 2])
    expect(later.at).toHaveLength(180)
    expect(later.at.at(-1)).toBe(now / 1000 + 10)
  })

  it('are 180 buckets in order, however long nothing came', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3_000_000 })), (steps) => {
        const rates = steps.reduce((before, step) => ratesWith(before, bucket(now + step, 1)), emptyRates(now))
        expect(rates.at).toHaveLength(180)
        expect(rates.accepted).toHaveLength(180)
        expect(rates.at.every((at, index) => index === 0 || at - (rates.at[index - 1] ?? 0) === 5)).toBe(true)
      }),
    )
  })
})

it('keeps of the rates what a tab needs that joins later, and no more', () => {
  const now = Date.UTC(2026, 0, 1, 12)
  const zeros = Array.from({ length: 180 }, () => 0)
  const history: LiveEvent = {
    name: 'history',
    data: {
      ...{ bucket_seconds: 5, from: new Date(now - 179 * 5000).toISOString() },
      ...{ accepted: zeros, refused: zeros, waiting: zeros, interactions: zeros },
    },
  }
  const some = { refused: 1, waiting: 0, interactions: 0 }
  const later = Array.from({ length: 500 }, (_, n): LiveEvent => {
    const at = new Date(now + Math.floor(n / 3) * 5000).toISOString()
    return { name: 'rates', data: { at, accepted: n, ...some } }
  })
  const kept = [history, ...later].reduce(ratesEvents, [] as readonly LiveEvent[])
  expect(kept.length).toBeLessThan(183)
  const all = [history, ...later].reduce(ratesWith, emptyRates(now))
  expect(kept.reduce(ratesWith, emptyRates(now))).toEqual(all)
})

describe('the connection', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is looked for until there is a sign of life, and then counted as back', async () => {
    let isAlive = false
    const connection = createConnection(async () => isAlive)
    connection.lost()
    expect(connection.now()).toEqual({ isLost: true, times: 0 })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(connection.now().isLost).toBe(true)
    isAlive = true
    await vi.advanceTimersByTimeAsync(10_000)
    expect(connection.now()).toEqual({ isLost: false, times: 1 })
    connection.stop()
  })

  it('is found lost where nobody asked anything', async () => {
    const connection = createConnection(async () => false)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(connection.now().isLost).toBe(true)
    connection.stop()
  })
})

it('reads the addresses that it writes', () => {
  const word = fc.string({ minLength: 1, unit: 'binary' })
  fc.assert(
    fc.property(fc.array(word), fc.dictionary(word, word), (path, query) => {
      const read = readRoute(linkTo(path, query))
      expect(read.path).toEqual(path)
      expect(Object.fromEntries(read.query)).toEqual({ ...query })
    }),
  )
})

it('takes from an address only what can be chosen', () => {
  const choices = ['7', '14', '30']
  const read = (text: string) => choiceIn(new URLSearchParams(text), 'days', choices, '14')
  expect(['days=7', 'days=abc', 'days=', '', 'days=1e9&days=7'].map(read)).toEqual(['7', '14', '14', '14', '14'])
  fc.assert(fc.property(fc.string(), (text) => choices.includes(read(text))))
})

it('takes only what can be the name of an organisation for one', () => {
  const read = (org: string) => orgIn(new URLSearchParams({ org }))
  expect(['acme', 'a-1', '', 'Acme', '../x', 'a b', 'a'.repeat(64)].map(read)).toEqual(['acme', 'a-1', ...Array(5)])
})

it('takes data:write for the write scope of each uploaded type, and for no other', () => {
  const me = (...scopes: string[]) => ({ org_id: 'o', key_id: 'k', scopes, is_operator: false })
  expect(may(me('data:write'), 'shops:write')).toBe(true)
  expect(may(me('data:write'), 'rejections:write')).toBe(false)
  expect(may(me('data:write'), 'interactions:write')).toBe(false)
  expect(may(me('shops:write'), 'offers:write')).toBe(false)
  expect(may({ ...me(), scopes: null }, 'offers:write')).toBe(true)
})
