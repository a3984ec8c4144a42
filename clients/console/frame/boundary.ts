import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import { html } from '../components/html.js'
import { PageHead } from '../components/shown.js'

type BoundaryProps = {
  /** Where the page is that may fail: at another place it is tried anew. */
  place: string
  /** The page without the values in its address, which may be what it fails on. */
  plain: string
  children?: ComponentChildren
}

/** A page that fails while it is drawn leaves the rest of the console alive, and says what can be done. */
export const Boundary = ({ place, plain, children }: BoundaryProps): VNode => {
  const failedAt = useRef('')
  const [error, reset] = useErrorBoundary(() => {
    failedAt.current = place
  })
  useEffect(() => {
    if (error && failedAt.current !== place) reset()
  }, [place])
  if (!error) return html`${children}`
  return html`
    <${PageHead} title="This page could not be shown" />
    <div class="notice bad" role="alert">
      <p>It met something that it does not understand: <code>${String(error)}</code></p>
      <p>The other pages go on, and nothing that you sent is lost. If it stays so, give this sentence to the operator.</p>
    </div>
    <div class="actions"><button type="button" onClick=${reset}>Try again</button> <a class="button" href=${plain}>Open it anew</a></div>`
}
