import { randomUUID } from 'node:crypto'
import type { Erasure, ErasureOfPerson } from '#ledger/erasures/erasures.js'
import type { ErasureActions } from '../../../../services/query/erasures/route.js'

/** Erasures in memory, which nobody does: a test changes them by hand. */
export const createFakeErasures = () => {
  const all = new Map<string, Erasure>()
  const actions: ErasureActions = {
    ask: async ({ orgId, personId, mode, afterwards, isDryRun }, { actor }) => {
      const erasure: ErasureOfPerson = {
        ...{ erasureId: randomUUID(), orgId, personId, mode, afterwards, isDryRun, askedBy: actor },
        ...{ known: null, names: [], status: 'running', step: 'asked', askedAt: new Date(0), endedAt: null },
        ...{ found: null, report: null, signature: null, problem: null },
      }
      all.set(erasure.erasureId, erasure)
      return erasure
    },
    list: async (orgId) => [...all.values()].filter((erasure) => erasure.orgId === orgId),
    find: async (erasureId) => all.get(erasureId),
    publicKey: async () => '-----BEGIN PUBLIC KEY-----',
  }
  return { ...actions, all }
}
