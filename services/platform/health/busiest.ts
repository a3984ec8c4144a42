/** Stands for all names that have no figure of their own. In brackets, so that it is no organisation's name. */
export const others = '(other)'

/**
 * Says under which name something is counted. Of any number of names only the busiest get figures of their own: the first `places` at
 * once, and one that is among the `places` busiest of a period from then on. A name that has figures keeps them, since a counter must
 * not go back; so there are `most` in the life of a process, however many names come and go.
 */
export const createBusiest = ({ places = 20, most = 100, periodMs = 600_000, now = Date.now } = {}) => {
  const shown = new Set<string>()
  const recent = new Map<string, number>()
  let periodEnds = now() + periodMs

  const endPeriod = (): void => {
    const busiest = [...recent].sort(([, one], [, other]) => other - one).slice(0, places)
    for (const [name] of busiest) if (shown.size < most) shown.add(name)
    recent.clear()
    periodEnds = now() + periodMs
  }
  return (name: string, amount: number): string => {
    if (now() >= periodEnds) endPeriod()
    recent.set(name, (recent.get(name) ?? 0) + amount)
    if (shown.size < places) shown.add(name)
    return shown.has(name) ? name : others
  }
}
