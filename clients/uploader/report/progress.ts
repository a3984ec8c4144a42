import type { FileReport } from '../send/tally.js'

export type FileProgress = ReturnType<typeof createProgress>

type FileUnderWay = { file: string; size: number; read: () => number; report: FileReport }
type ProgressScreen = { write: (text: string) => unknown; isTTY?: boolean | undefined; columns?: number | undefined }

const everyOnTerminal = 200
const everyElsewhere = 10_000

/** Shows on standard error how far an upload is: in a line that changes on a terminal, and in a line every 10 s elsewhere. */
export const createProgress = (screen: ProgressScreen, now: () => number = () => performance.now()) => {
  // Those under way, and those that ended beside them: without these, the sums would become smaller.
  let together: Begun[] = []
  let underWay = 0
  let percent = 0
  let isAnswered = false
  let waiting: string | undefined
  let timer: NodeJS.Timeout | undefined
  let shown = false

  const wipe = () => {
    if (shown) screen.write('\r\u001b[K')
    shown = false
  }
  const show = (files: readonly Begun[], least = 0) => {
    const pieces = piecesOf(files, now(), waiting, least)
    if (!screen.isTTY) return void screen.write(`weir: ${pieces.join(', ')}\n`)
    screen.write(`\r\u001b[K${fitInto(pieces, (screen.columns || 80) - 1)}`)
    shown = true
  }

  return {
    /** A file, maybe beside others; returns what is to be called when it is over. */
    begin: (file: FileUnderWay) => {
      const before = { read: file.read(), records: file.report.records }
      const begun: Begun = { ...file, begunAt: now(), before, most: { ...before }, isOver: false }
      waiting = undefined
      if (underWay === 0) {
        together = []
        percent = 0
        const showAll = () => {
          // A file that begins beside others makes the whole larger, and the share smaller: that is not shown.
          percent = Math.max(percent, shareOf(together))
          show(together, percent)
        }
        timer = setInterval(showAll, screen.isTTY ? everyOnTerminal : everyElsewhere)
        timer.unref()
      }
      underWay += 1
      together.push(begun)
      return (): void => {
        underWay -= 1
        begun.isOver = true
        if (underWay === 0) clearInterval(timer)
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

type Done = { read: number; records: number }
type Begun = FileUnderWay & { begunAt: number; before: Done; most: Done; isOver: boolean }

/** How far a file is. What is read or sent once more was counted before: it is never less than it was. */
const doneOf = ({ size, read, report, most }: Begun): Done => {
  most.read = Math.max(most.read, size > 0 ? Math.min(size, read()) : read())
  most.records = Math.max(most.records, report.records)
  return most
}

const sumOf = (files: readonly Begun[], of: (file: Begun) => number) =>
  files.reduce((total, file) => total + of(file), 0)

/** In percent. */
const shareOf = (files: readonly Begun[]): number => {
  const size = sumOf(files, (file) => file.size)
  return size === 0 ? 0 : Math.floor((100 * sumOf(files, (file) => doneOf(file).read)) / size)
}

/** How far these files are together, `least` percent at the least; `waiting` says why nothing goes on at the moment. */
const piecesOf = (files: readonly Begun[], now: number, waiting: string | undefined, least: number): string[] => {
  const sum = (of: (file: Begun) => number) => sumOf(files, of)
  const perSecond = (name: keyof Done) =>
    sumOf(
      files.filter(({ isOver }) => files.length === 1 || !isOver),
      (file) => (doneOf(file)[name] - file.before[name]) / Math.max(0.001, (now - file.begunAt) / 1000),
    )
  const size = sum((file) => file.size)
  const done = sum((file) => doneOf(file).read)
  const records = sum((file) => doneOf(file).records)
  const [refused, waits] = [sum(({ report }) => report.refused), sum(({ report }) => report.waiting)]
  const [rate, bytesRate] = [perSecond('records'), perSecond('read')]
  return [
    size > 0 ? `${Math.max(least, shareOf(files))}%` : '',
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
