// One line per step with its time: redrawn on a terminal, repeated every 15 s in a pipe, where silence would look like a hang.
import { isStopping } from './tool.mjs'

const REDRAW_MS = 100
const REMIND_MS = 15_000
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** @param {NodeJS.WriteStream} output */
export function createProgress(output) {
  const begun = Date.now()
  const say = (text) => output.write(`${clear(output)}[${seconds(begun)}] ${text}\n`)

  /** Runs `work`, which may call its argument with a few words on how far it is. `left` is said when it is done. */
  const step = async (title, work, left = '') => {
    const started = Date.now()
    let detail = ''
    const line = () => `${title}${detail && `: ${detail}`}`
    if (!output.isTTY) say(`${title} …`)
    const timer = output.isTTY
      ? setInterval(() => isStopping() || redraw(output, `[${seconds(begun)}] ${frame()} ${line()}`), REDRAW_MS)
      : setInterval(() => isStopping() || say(`${line()} … still at it`), REMIND_MS)
    try {
      await work((text) => {
        detail = text
      })
      say(`${title}: done in ${seconds(started).trim()}${left}`)
    } finally {
      clearInterval(timer)
      output.write(clear(output))
    }
  }

  return { say, step }
}

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`.padStart(7)
const frame = () => FRAMES[Math.floor(Date.now() / REDRAW_MS) % FRAMES.length]
const clear = (output) => (output.isTTY ? '\r\x1b[K' : '')
const redraw = (output, text) => output.write(`\r\x1b[K${text.slice(0, (output.columns || 80) - 1)}`)
