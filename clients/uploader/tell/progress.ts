import type { FileReport } from '../send/tally.js'

/** Tells on standard error how far an upload is: a line that changes on a terminal, and a line every 10 s elsewhere. */
export type FileProgress = {
  begin: (file: { file: string; size: number; read: () => number; report: FileReport }) => void
  answered: () => void
  /** Whether the server has answered at all in this run. */
  hasAnswer: () => boolean
  /** The server does not answer, or not now; `isHeard` where it said so itself. */
  waits: (message: string, waitMs: number, isHeard: boolean) => void
  note: (text: string) => void
  end: () => void
}

export type ProgressScreen = {
  write: (text: string) => unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

const everyOnTerminal = 200
const everyElsewhere = 10_000

export const createProgress = (screen: ProgressScreen, now: () => number = () => performance.now()): FileProgress => {
  let current: Parameters<FileProgress['begin']>[0] | undefined
  let begunAt = 0
  let readBefore = 0
  let recordsBefore = 0
  let isAnswered = false
  let waiting: string | undefined
  let timer: NodeJS.Timeout | undefined
  let shown = false

  const wipe = () => {
    if (shown) screen.write('\r\u001b[K')
    shown = false
  }
  const show = () => {
    if (!current) return
    const { file, size, read, report } = current
    const seconds = Math.max(0.001, (now() - begunAt) / 1000)
    const done = Math.min(size, read())
    const rate = (report.records - recordsBefore) / seconds
    const bytesRate = (done - readBefore) / seconds
    const pieces = [
      size > 0 ? `${Math.floor((100 * done) / size)}%` : '',
      `${count(report.records)} records`,
      report.refused > 0 ? `${count(report.refused)} refused` : '',
      waiting ?? `${count(Math.round(rate))}/s`,
      waiting === undefined && size > 0 && bytesRate > 0 && done < size
        ? `${duration((size - done) / bytesRate)} left`
        : '',
      size > 0 ? `${bytes(done)} of ${bytes(size)}` : '',
      file,
    ].filter(Boolean)
    if (!screen.isTTY) return void screen.write(`weir: ${pieces.join(', ')}\n`)
    screen.write(`\r\u001b[K${fitInto(pieces, (screen.columns || 80) - 1)}`)
    shown = true
  }

  return {
    begin: (file) => {
      current = file
      begunAt = now()
      readBefore = file.read()
      recordsBefore = file.report.records
      waiting = undefined
      timer = setInterval(show, screen.isTTY ? everyOnTerminal : everyElsewhere)
      timer.unref()
    },
    answered: () => {
      isAnswered = true
      waiting = undefined
    },
    hasAnswer: () => isAnswered,
    waits: (message, waitMs, isHeard) => {
      isAnswered ||= isHeard
      const isNew = waiting === undefined
      waiting = `waiting: ${message}; next try in ${Math.max(1, Math.round(waitMs / 1000))} s`
      if (isNew && !screen.isTTY) screen.write(`weir: ${waiting}\n`)
    },
    note: (text) => {
      wipe()
      screen.write(`weir: ${text}\n`)
    },
    end: () => {
      clearInterval(timer)
      if (screen.isTTY) {
        show()
        if (shown) screen.write('\n')
        shown = false
      }
      current = undefined
    },
  }
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
