import type { VerdictEvent } from '#schemas/events.js'

/** Wakes those who wait for what is accepted for an organisation, by the verdicts that the edge hears of anyway. */
export const createWakes = () => {
  const waiting = new Map<string, Set<() => void>>()
  const nameOf = (orgId: string, type: string): string => `${orgId}/${type}`

  return {
    note: ({ org_id, type, accepted }: Pick<VerdictEvent, 'org_id' | 'type' | 'accepted'>): void => {
      if (accepted === 0) return
      for (const wake of [...(waiting.get(nameOf(org_id, type)) ?? [])]) wake()
    },
    /** Calls back whenever something of these types is accepted for the organisation; what is returned ends that. */
    listen: (orgId: string, types: readonly string[], wake: () => void): (() => void) => {
      const names = types.map((type) => nameOf(orgId, type))
      for (const name of names) waiting.set(name, (waiting.get(name) ?? new Set()).add(wake))
      return () => {
        for (const name of names) {
          const others = waiting.get(name)
          others?.delete(wake)
          if (others?.size === 0) waiting.delete(name)
        }
      }
    },
  }
}

export type Wakes = ReturnType<typeof createWakes>
