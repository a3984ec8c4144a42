import { makeOrganisations } from './organisations.js'
import { count } from './report/goals.js'
import { type Growth, services } from './results.js'
import { type Bench, lineOf } from './system.js'
import { forms, growing } from './workloads.js'

const fewOrganisations = 10
const manyOrganisations = 1000
// Ids that transactions refer to are spread over all shops, without keeping every one of ten million in memory.
const rememberOneIn = 10

/** Fills a system up to so many shops, and compares what it does at the start with what it does at the end. */
export const measureGrowth = async ({ system, generator, meter, say }: Bench, growTo: number): Promise<Growth> => {
  const { seconds } = forms.full
  const weir = { url: system.edgeUrl, keys: [system.demoKey] }
  const few = Math.max(1000, Math.round(growTo / 1000))
  const [fill, referring, ofOrganisations] = [growing.fill, growing.referring, growing.ofOrganisations]

  say(`growth: ${few} shops at first …`)
  await generator.know({ type: 'shops', count: few, url: system.edgeUrl, key: system.demoKey })
  /** What the system does with so many shops, once it is calm and warm. */
  const measureReferring = async (shops: number) => {
    await meter.untilCalm()
    await meter.measure(referring.name, { ...weir, streams: referring.streams, seconds: 5 })
    const measured = await meter.measure(`${count(shops)} shops known`, {
      ...weir,
      streams: referring.streams,
      seconds,
    })
    say(lineOf(measured))
    return measured
  }
  const withFew = await measureReferring(few)

  const fillTo = async (shops: number) => {
    say(`growth: on to ${shops} shops …`)
    const streams = fill.streams.map((stream) => ({ ...stream, remember: rememberOneIn }))
    const filled = await meter.measure(fill.name, { ...weir, streams, records: Math.max(5000, shops - sent) })
    sent += filled.records
    say(lineOf(filled))
    return filled
  }
  let sent = few
  const tenth = await fillTo(growTo / 10)
  const all = await fillTo(growTo)
  const entities = { few, many: few + tenth.records + all.records }
  const withMany = await measureReferring(entities.many)

  say(`growth: ${manyOrganisations} organisations …`)
  const keys = await makeOrganisations(system.env.POSTGRES_URL, 'many', manyOrganisations)
  const ofSome = async (some: number) => {
    const plan = { url: system.edgeUrl, keys: keys.slice(0, some), streams: ofOrganisations.streams }
    const name = `${some} organisations`
    // The edge looks each key up in Postgres when it first sees it.
    await meter.measure(name, { ...plan, seconds: 5 })
    const measured = await meter.measure(name, { ...plan, seconds })
    say(lineOf(measured))
    return measured
  }
  const memory = Object.fromEntries(
    services.map((name) => {
      const [before, after] = [tenth.processes[name], all.processes[name]]
      return [name, { tenth: before?.megabytes ?? 0, all: after?.megabytes ?? 0, peak: after?.peakMegabytes ?? 0 }]
    }),
  )
  return {
    entities,
    withFew,
    withMany,
    organisations: { few: fewOrganisations, many: manyOrganisations },
    ofFew: await ofSome(fewOrganisations),
    ofMany: await ofSome(manyOrganisations),
    memory,
  }
}
