import { useEffect, useState } from 'preact/hooks'

/** Where one is in the console: `#/rejected/group?type=offers` has the path `['rejected', 'group']`. */
export type Route = { path: string[]; query: URLSearchParams }

/** A page gets the rest of the path behind its own name, and the query. */
export type PageProps = { rest: string[]; query: URLSearchParams }

/** The address of a page. The routes are in the fragment, so the edge never sees them. */
export const linkTo = (path: readonly string[], query: Record<string, string | null | undefined> = {}): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const text = new URLSearchParams(given).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

export const readRoute = (hash: string): Route => {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?')
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) }
}

/** A value of the address that is one of those to choose from; whatever else somebody typed there counts as `otherwise`. */
export const choiceIn = (query: URLSearchParams, name: string, choices: readonly string[], otherwise = ''): string => {
  const given = query.get(name) ?? otherwise
  return choices.includes(given) ? given : otherwise
}

/** The organisation that an operator looks at, if the address names one; a name that no organisation can have is none. */
export const orgIn = (query: URLSearchParams, name = 'org'): string | undefined => {
  const given = query.get(name) ?? ''
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(given) ? given : undefined
}

/** Names the organisation in an address that does not, without a step for the browser to lead back by. */
export const keepOrg = ({ path, query }: Route, org: string): void => {
  history.replaceState(history.state, '', linkTo(path, { ...Object.fromEntries(query), org }))
}

export const goTo = (link: string): void => {
  location.hash = link
}

export const useRoute = (): Route => {
  const [route, setRoute] = useState(() => readRoute(location.hash))
  useEffect(() => {
    const change = () => setRoute(readRoute(location.hash))
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return route
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
