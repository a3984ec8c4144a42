import type { FileReport } from '../send/tally.js'

export type FileProgress = ReturnType<typeof createProgress>

type FileUnderWay = { file: string; size: number; read: () => number; report: FileReport }
type ProgressScreen = { write: (text: string) => unknown; isTTY?: boolean | undefined; columns?: number | undefined }

const everyOnTerminal = 200
const everyElsewhere = 10_000

/** Shows on standard error how far an upload is: in a line that changes on a terminal, and in a line every 10 s elsewhere. */
export const createProgress = (screen: ProgressScreen, now: () => number = () => performance.now()) => {
  const underWay = new Set<Begun>()
  let isAnswered = false
  let waiting: string | undefined
  let timer: NodeJS.Timeout | undefined
  let shown = false

  const wipe = () => {
    if (shown) screen.write('\r\u001b[K')
    shown = false
  }
  const show = (files: readonly Begun[]) => {
    if (files.length === 0) return
    const pieces = piecesOf(files, now(), waiting)
    if (!screen.isTTY) return void screen.write(`weir: ${pieces.join(', ')}\n`)
    screen.write(`\r\u001b[K${fitInto(pieces, (screen.columns || 80) - 1)}`)
    shown = true
  }

  return {
    /** A file, maybe beside others; returns what is to be called when it is over. */
    begin: (file: FileUnderWay) => {
      const begun = { ...file, begunAt: now(), readBefore: file.read(), recordsBefore: file.report.records }
      waiting = undefined
      if (underWay.size === 0) {
        timer = setInterval(() => show([...underWay]), screen.isTTY ? everyOnTerminal : everyElsewhere)
        timer.unref()
      }
      underWay.add(begun)
      return (): void => {
        underWay.delete(begun)
        if (underWay.size === 0) clearInterval(timer)
        if (!screen.isTTY) return
        show([begun])
        screen.write('\n')
        shown = false
      }
    },
    answered: (): void => {
      isAnswered = true
      waiting = undefined
    },
    /** Whether the server has answered at all in this run. */
    hasAnswer: (): boolean => isAnswered,
    /** The server does not answer, or not now; `isHeard` where it said so itself. */
    waits: (message: string, waitMs: number, isHeard: boolean): void => {
      isAnswered ||= isHeard
      const isNew = waiting === undefined
      waiting = `waiting: ${message}; next try in ${Math.max(1, Math.round(waitMs / 1000))} s`
      if (isNew && !screen.isTTY) screen.write(`weir: ${waiting}\n`)
    },
    note: (text: string): void => {
      wipe()
      screen.write(`weir: ${text}\n`)
    },
  }
}

type Begun = FileUnderWay & { begunAt: number; readBefore: number; recordsBefore: number }

/** How far these files are together; `waiting` says why nothing goes on at the moment. */
const piecesOf = (files: readonly Begun[], now: number, waiting: string | undefined): string[] => {
  const sum = (of: (file: Begun) => number) => files.reduce((total, file) => total + of(file), 0)
  const since = (file: Begun) => Math.max(0.001, (now - file.begunAt) / 1000)
  const size = sum((file) => file.size)
  const done = sum((file) => Math.min(file.size, file.read()))
  const [records, refused, waits] = (['records', 'refused', 'waiting'] as const).map((name) =>
    sum(({ report }) => report[name]),
  ) as [number, number, number]
  const rate = sum((file) => (file.report.records - file.recordsBefore) / since(file))
  const bytesRate = sum((file) => (Math.min(file.size, file.read()) - file.readBefore) / since(file))
  return [
    size > 0 ? `${Math.floor((100 * done) / size)}%` : '',
    `${count(records)} records`,
    refused > 0 ? `${count(refused)} refused` : '',
    waits > 0 ? `${count(waits)} wait` : '',
    waiting ?? `${count(Math.round(rate))}/s`,
    waiting === undefined && size > 0 && bytesRate > 0 && done < size
      ? `${duration((size - done) / bytesRate)} left`
      : '',
    size > 0 ? `${bytes(done)} of ${bytes(size)}` : '',
    files.length === 1 ? (files[0]?.file ?? '') : `${files.length} files`,
  ].filter(Boolean)
}

/** As many pieces as fit, from the first on; a terminal would break a longer line and scroll with each change. */
export const fitInto = (pieces: readonly string[], width: number): string => {
  let line = ''
  for (const piece of pieces) {
    const longer = line === '' ? piece : `${line}  ${piece}`
    if (longer.length > width) return line === '' ? longer.slice(0, width) : line
    line = longer
  }
  return line
}

export const count = (number: number): string => String(number).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

export const bytes = (number: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, number)) / 3))
  const value = number / 1000 ** power
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`
}

export const duration = (seconds: number): string => {
  const whole = Math.max(1, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
