import { useCallback, useEffect, useState } from 'preact/hooks'
import type { AnswerTo, Endpoints } from '../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../api/session.js'

/** An answer of the edge as a page shows it. The last good one stays while it is asked for again, or cannot be had. */
export type PageAnswer<Answer> = {
  answer: Answer | undefined
  problem: string | undefined
  isLoading: boolean
  reload: () => void
}

/** The addresses that can be asked, as they are declared. */
type AskedPath = keyof Endpoints extends infer Name ? (Name extends `GET ${infer Path}` ? Path : never) : never
type AnswerAt<Path extends AskedPath> = AnswerTo<`GET ${Path}`>

/** Asks for a path (undefined: nothing yet), again when the connection came back, and every `every` milliseconds. */
export const useAnswer = <Path extends AskedPath>(
  path: string | undefined,
  { every }: { every?: number } = {},
): PageAnswer<AnswerAt<Path>> => {
  type Answer = AnswerAt<Path>
  const { ask, connection, org } = useSession()
  const [state, setState] = useState<{ path: string; answer?: Answer; problem?: string }>()
  const [isLoading, setLoading] = useState(true)
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((number) => number + 1), [])
  const name = path === undefined ? undefined : `${org} ${path}`

  useEffect(() => {
    if (path === undefined || name === undefined) return setLoading(false)
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const again = () => {
      // A hidden tab asks for nothing.
      if (every !== undefined) timer = setTimeout(() => (document.hidden ? again() : void run()), every)
    }
    const run = async () => {
      try {
        const answer = await ask<Answer>(path, { signal: ending.signal })
        if (!ending.signal.aborted) setState({ path: name, answer })
      } catch (error) {
        if (!ending.signal.aborted)
          setState((before) => ({ ...(before?.path === name ? before : {}), path: name, problem: wordsOf(error) }))
      }
      if (ending.signal.aborted) return
      setLoading(false)
      again()
    }
    setLoading(true)
    void run()
    let { times } = connection.now()
    const unfollow = connection.follow(() => {
      if (connection.now().times === times) return
      times = connection.now().times
      reload()
    })
    return () => {
      ending.abort()
      clearTimeout(timer)
      unfollow()
    }
  }, [name, turn, every, ask])

  // What was answered about another path is not shown under this one.
  const shown = state?.path === name ? state : undefined
  return {
    answer: shown?.answer,
    problem: shown?.problem,
    isLoading: isLoading || (path !== undefined && !shown),
    reload,
  }
}
