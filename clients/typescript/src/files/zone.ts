// Times of day without a zone, as spreadsheets and tills write them. The service takes them for UTC.

const withoutZone = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?$/

/** Reads times without a zone as those of this one; where none is given, tells that there are such times, once. */
export const createToZone = (
  /** The fields that hold moments. */
  names: readonly string[],
  zone: string | undefined,
  onTakenForUtc: () => void,
): ((record: Record<string, unknown>) => void) => {
  const toUtc = zone === undefined ? undefined : createToUtc(zone)
  let isTold = false
  return (record) => {
    for (const name of names) {
      const value = record[name]
      const found = typeof value === 'string' ? withoutZone.exec(value) : null
      if (!found) continue
      if (toUtc) record[name] = toUtc(found)
      else if (!isTold && found[0].includes('T')) {
        isTold = true
        onTakenForUtc()
      }
    }
  }
}

/** Of a time that comes twice, when clocks are set back, the first is meant; one that is skipped counts as if they were not set. */
const createToUtc = (zone: string) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  const offsetAt = (ms: number): number => {
    const at = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const of = (name: Intl.DateTimeFormatPartTypes): number => at.get(name) ?? 0
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) - ms
  }
  return ([text, year, month, day, hour, minute, second = '00', fraction = '']: RegExpExecArray): string => {
    const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
    const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`
    // A day or an hour that does not exist stays as it is, and is refused.
    if (new Date(local).toISOString().slice(0, 19) !== iso) return text
    const before = offsetAt(local - 86_400_000)
    const offset = offsetAt(local - before) === before ? before : offsetAt(local - offsetAt(local))
    return `${new Date(local - offset).toISOString().slice(0, 19)}${fraction}Z`
  }
}
