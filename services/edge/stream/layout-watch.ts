import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '#http/request-error.js'
import type { Generation } from '#ledger/layout/layout.js'
import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import { type CutLayout, changing } from '../batches/cut-again.js'
import { createPlaces, type Placed, type Places } from '../batches/places.js'

// A change takes three seconds or so.
const holdFor = 10_000

/**
 * How wide the system is, also while "weir lanes change" changes that. A request that was cut before a change is written where it was cut
 * for, or not at all: Kafka takes nothing more there. While a change is being prepared, requests wait before they are cut.
 */
export const createLayoutWatch = (deps: {
  catalogue: Catalogue
  /** All layouts that the system has had, has and is about to have. */
  findGenerations: () => Promise<Generation[]>
  /** Waits until Kafka's topics are as wide as that. */
  checkTopics: (layout: Layout) => Promise<void>
  /** What is said while it is not known yet. */
  notYet: () => Error
  log: Log
}) => {
  let layout: Layout | undefined
  let history: Pick<CutLayout, 'earlierLanes' | 'isDecidedBefore'> = {}
  /** By generation. */
  const placesOf = new Map<number, Places>()
  /** While the lanes are being changed: what resolves when they are. */
  let change: { over: Promise<void>; end: () => void } | undefined
  let isLooking = false

  const generationNow = (): number => layout?.generation ?? 0
  const use = (wide: Layout): void => {
    const { generation = 0 } = wide
    if (!placesOf.has(generation)) placesOf.set(generation, createPlaces(deps.catalogue, wide))
    layout = wide
  }
  const learn = (generations: readonly Generation[]): Generation | undefined => {
    const open = generations.findLast(({ state }) => state !== 'coming')
    const before = generations.filter(({ generation }) => generation < (open?.generation ?? 0))
    const earlier = new Set(before.map(({ lanes }) => lanes).reverse())
    earlier.delete(open?.lanes ?? 0)
    history = { earlierLanes: [...earlier], isDecidedBefore: before.every(({ state }) => state === 'finished') }
    return open
  }
  const hold = (): void => {
    if (change) return
    let end = (): void => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    change = { over, end }
  }
  const goOn = (): void => {
    change?.end()
    change = undefined
  }
  const known = (): Layout => {
    if (!layout) throw deps.notYet()
    return layout
  }

  return {
    /** From now on this is how wide the system is; the generations say what was before. */
    begin: (wide: Layout, generations: readonly Generation[]): void => {
      learn(generations)
      use(wide)
    },
    /** Looks whether the lanes were changed. To be called every second. */
    look: async (): Promise<void> => {
      if (isLooking || !layout) return
      isLooking = true
      try {
        const generations = await deps.findGenerations()
        const open = learn(generations)
        if (open && open.generation !== generationNow()) {
          await deps.checkTopics(open)
          use(open)
          deps.log.info({ lanes: open.lanes, generation: open.generation }, 'the lanes were changed')
        }
        if (generations.some(({ state }) => state === 'coming')) hold()
        else goOn()
      } catch (error) {
        deps.log.debug({ err: error }, 'layout not looked at')
      } finally {
        isLooking = false
      }
    },
    /** Throws while it is not known yet. */
    layout: known,
    /** The same, for what is cut into batches by it; throws also while the lanes are being changed. */
    layoutToCut: (): CutLayout => {
      if (change) throw new Unavailable(changing)
      return { ...known(), ...history }
    },
    /** While the lanes are being changed, what resolves once they are; it is not waited for longer than a few seconds. */
    untilSteady: (): Promise<void> | undefined =>
      change && Promise.race([change.over, sleep(holdFor, undefined, { ref: false })]),
    /** The partitions that are written to now; undefined while the layout is not known yet. */
    places: (): Places | undefined => placesOf.get(generationNow()),
    /** Those that a batch was cut for. */
    placesFor: ({ generation = 0 }: Placed): Places => {
      const places = placesOf.get(generation)
      if (!places) throw deps.notYet()
      return places
    },
  }
}
