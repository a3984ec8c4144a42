// What tells that a page is left, or that a program is at its end: in browsers and in Node, without the types of either.

type Events = {
  addEventListener: (name: string, listener: () => void) => void
  removeEventListener: (name: string, listener: () => void) => void
}
type NodeEvents = {
  on: (name: string, listener: () => void) => void
  off: (name: string, listener: () => void) => void
}
type Surroundings = {
  document?: Events & { visibilityState: string }
  process?: Partial<NodeEvents>
} & Partial<Events>

const here = (): Surroundings => globalThis as unknown as Surroundings

export const isPage = (): boolean => here().document !== undefined

/** Calls `page` when a page is hidden or left, and `process` when a Node program has nothing more to do; until what it returns is called. */
export const whenLeaving = (work: { page: () => void; process: () => unknown }): (() => void) => {
  const { document, process } = here()
  if (document) {
    // A page on a phone may never get further than to be hidden.
    const onHidden = () => {
      if (document.visibilityState === 'hidden') work.page()
    }
    document.addEventListener('visibilitychange', onHidden)
    here().addEventListener?.('pagehide', work.page)
    return () => {
      document.removeEventListener('visibilitychange', onHidden)
      here().removeEventListener?.('pagehide', work.page)
    }
  }
  const onExit = () => void work.process()
  process?.on?.('beforeExit', onExit)
  return () => process?.off?.('beforeExit', onExit)
}
