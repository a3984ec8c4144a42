import type { ComponentType, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../components/html.js'
import { Asking, PageHead } from '../components/shown.js'
import type { PageProps } from '../frame/route.js'

type State = { page?: ComponentType<PageProps>; problem?: string }

/** The SQL page. Its editor is larger than all other pages together, so that it is fetched only when somebody comes here. */
export const SqlPage = (props: PageProps): VNode => {
  const [{ page, problem }, setState] = useState<State>({})
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    import('./sql/sql.js').then(
      (loaded) => setState({ page: loaded.SqlPage }),
      () =>
        setState({ problem: 'the editor could not be loaded; after an upgrade of the service, load the page anew' }),
    )
  }, [turn])
  if (page) return html`<${page} ...${props} />`
  return html`<${PageHead} title="SQL" /><${Asking} problem=${problem} isLoading=${true} has=${false} reload=${() => setTurn(turn + 1)} />`
}
