import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { packageRoot } from '#platform/process/package-root.js'
import type { ConformanceCall, Names } from './cases.js'

/** What the SDK for Python says: a request that it makes, or what came of a call. */
type Said = {
  request?: { method: string; url: string; headers: Record<string, string> }
  body?: string | null
  at?: number
  returned?: unknown
  failed?: Record<string, unknown>
  broke?: string
}

export type Answerer = (url: string, init: RequestInit, at: number) => 'none' | object

/** A program in Python that does what calls say; where it is scripted, its requests are answered by `answer`. */
export const startPythonDriver = (words: readonly string[], { python = 'python3', env = {} }: PythonPlace = {}) => {
  const program = `${packageRoot}/test/clients/python/drive.py`
  const child: ChildProcess = spawn(python, [program, ...words], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdout) throw new Error('Python has no output')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const write = (what: unknown) => child.stdin?.write(`${JSON.stringify(what)}\n`)

  return {
    /** Tells how what comes of a call differs from what has to come of it. */
    drive: async (
      call: ConformanceCall,
      names: Names,
      config: { url: string; key: string },
      answer?: Answerer,
    ): Promise<string[]> => {
      const { exchanges: _, returns, fails, ...given } = call
      write({ call: names.fill(given), ...config })
      for (;;) {
        const line = await lines.next()
        if (line.done) return ['Python has ended']
        const said = JSON.parse(line.value) as Said
        if (said.request && answer) {
          const { method, url, headers } = said.request
          write(answer(url, { method, headers, ...(said.body != null && { body: said.body }) }, said.at ?? 0))
          continue
        }
        if (said.broke !== undefined) return [`it broke: ${said.broke}`]
        if (!said.failed)
          return fails
            ? [`it should have failed, and returned ${JSON.stringify(said.returned)}`]
            : names.differences(returns, said.returned, 'returned', true)
        if (!fails) return [`it failed: ${JSON.stringify(said.failed)}`]
        return [
          ...(said.failed.remedy ? [] : ['the error has no remedy']),
          ...names.differences(fails, said.failed, 'error', false),
        ]
      }
    },
    stop: () => child.kill(),
  }
}

export type PythonPlace = { python?: string; env?: Record<string, string> }

/** The SDK as it stands in this clone, without what it needs to speak HTTP. */
export const fromSources: PythonPlace = { env: { PYTHONPATH: `${packageRoot}/clients/python/src` } }
