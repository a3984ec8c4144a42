import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.js'
import type { Snippet } from './snippets.js'

// A dozen operator's commands take half a minute, and five times as long on a machine that is busy with other tests.
const WITHIN_MS = 180_000
const ENDS_WITHIN_MS = 30_000

export type Outcome = {
  /** What it printed, on both streams. */
  output: string
  /** The commands in it that did not end with code 0, each with its line on the page. */
  failed: string[]
}

/**
 * A shell as a reader has it: what one snippet sets is there for the next. `enter` stands before the shell's own command, when
 * it runs elsewhere; `folder` is for the files that the shell reads snippets from.
 */
export const openTerminal = (given: { cwd: string; env: Record<string, string>; enter: string[]; folder: string }) => {
  const [command = '', ...args] = [...given.enter, 'bash', '--noprofile', '--norc']
  // A process group of its own, which Ctrl-C reaches as a whole.
  const env = { ...given.env, SNIPPETS: given.folder }
  const shell = spawn(command, args, { cwd: given.cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
  const ended = once(shell, 'close')
  const heard = { stdout: '', stderr: '', both: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    shell[stream].setEncoding('utf8').on('data', (text: string) => {
      heard[stream] += text
      heard.both += text
    })
  }
  const type = (line: string) => shell.stdin.write(`${line}\n`)
  // Should this process be killed, the fourth pipe is cut, and all ends that runs here: a snippet may be endless.
  type('(read -r <&3; kill -KILL 0) & exec 3<&-')
  // At a prompt, Ctrl-C ends the command and not the shell.
  type('trap : INT')
  // As at a prompt, what fails does not keep the next command from running; it is noted.
  type(`set -o pipefail -o errtrace; newline=$'\\n'`)
  type(`trap 'failed+="$LINENO code $? of \${BASH_COMMAND%%$newline*}$newline"' ERR`)

  return {
    /** Runs a snippet to its end. When it says Ctrl-C, that is pressed as soon as what was printed `isEnough`. */
    run: async (snippet: Snippet, isEnough: (output: string) => boolean): Promise<Outcome> => {
      const name = `${snippet.page.replaceAll('/', '-')}-${snippet.line}`
      const mark = `--- ${name} has ended ---`
      writeFileSync(join(given.folder, name), snippet.text)
      heard.stdout = heard.stderr = heard.both = ''
      type(`failed=; ${commandFor(snippet.language, `"$SNIPPETS/${name}"`)} </dev/null`)
      type(`printf %s "$failed" >"$SNIPPETS/${name}.failed"; printf %s '${mark}'; printf %s '${mark}' >&2`)
      const hasEnded = () => heard.stdout.includes(mark) && heard.stderr.includes(mark)
      const until = (isSo: () => boolean, complaint: string, within: number) =>
        eventually(() => {
          if (shell.exitCode !== null) throw new Error(`the shell ended; it printed:\n${heard.both}`)
          if (!isSo()) throw new Error(`${complaint} within ${within / 1000} s; it printed:\n${heard.both}`)
        }, within)

      if (snippet.text.includes('Ctrl-C')) {
        await until(() => hasEnded() || isEnough(heard.both), 'it did not print what the page shows', WITHIN_MS)
        process.kill(-(shell.pid ?? 0), 'SIGINT')
        await until(hasEnded, 'Ctrl-C did not end it', ENDS_WITHIN_MS)
      } else await until(hasEnded, 'it did not end', WITHIN_MS)

      const noted = readFileSync(join(given.folder, `${name}.failed`), 'utf8')
        .split('\n')
        .filter(Boolean)
      // The snippet as a whole ends with the code of its last command, noted already; unless it could not be read at all.
      const inside = noted.filter((line) => !line.includes('"$SNIPPETS/'))
      const failed = inside.length > 0 ? inside : noted
      return { output: heard.both.replaceAll(mark, ''), failed: failed.map((line) => onPage(snippet, line)) }
    },
    close: async (): Promise<void> => {
      if (shell.exitCode === null && shell.signalCode === null) process.kill(-(shell.pid ?? 0), 'SIGKILL')
      await ended
    },
  }
}

const commandFor = (language: string, file: string): string => {
  if (language === 'python') return `python ${file}`
  if (language === 'sql') return `curl -sS --fail-with-body http://127.0.0.1:8123/ --data-binary @${file}`
  return `. ${file}`
}

/** The shell counts the lines of a snippet from 1, and those that were typed when a snippet as a whole has failed. */
const onPage = ({ page, line }: Snippet, failed: string): string => {
  const [, number = '1', what = ''] = /^(\d+) (.*)$/.exec(failed) ?? []
  return `${page}:${what.includes('"$SNIPPETS/') ? line : line + Number(number) - 1}: ${what}`
}
