export type Progress = ReturnType<typeof createProgress>

/** Where progress is shown: a terminal redraws its last line, anything else gets a line now and then. */
type Screen = { isTTY?: boolean; columns?: number; write: (text: string) => unknown }

const barWidth = 24
const redrawEvery = 100
const lineEvery = 5_000

/** Shows how far a long piece of work is, on the error stream, so that the result can be piped on. */
export const createProgress = (label: string, total: number, screen: Screen = process.stderr, now = Date.now) => {
  const begun = now()
  let done = 0
  let about = ''
  let shown = screen.isTTY ? 0 : begun

  const show = (isLast: boolean): void => {
    shown = now()
    const line = lineOf(label, { done, total, about }, (shown - begun) / 1000, isLast)
    if (!screen.isTTY) screen.write(`${line}\n`)
    else screen.write(`\r\x1b[K${line.slice(0, (screen.columns ?? 80) - 1)}${isLast ? '\n' : ''}`)
  }
  return {
    /** Adds to what is done; `said` stands behind the numbers. */
    advance: (count: number, said = about): void => {
      done += count
      about = said
      if (now() - shown >= (screen.isTTY ? redrawEvery : lineEvery)) show(false)
    },
    /** Shows the last state, and how long the work took. */
    end: (): void => show(true),
  }
}

type Done = { done: number; total: number; about: string }

const lineOf = (label: string, { done, total, about }: Done, seconds: number, isLast: boolean): string => {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * barWidth)
  const bar = `${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`
  const left = isLast || share === 0 ? '' : `, ${duration((seconds / share) * (1 - share))} left`
  return `${label} ${bar} ${count(done)} of ${count(total)}${about}, ${duration(seconds)}${left}`
}

export const count = (n: number): string => n.toLocaleString('en').replaceAll(',', ' ')
const duration = (seconds: number): string =>
  seconds < 90 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`
