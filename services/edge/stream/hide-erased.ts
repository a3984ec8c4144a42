import type { GateMemory } from '#ledger/erasures/gate-memory.js'
import { createIsErased } from '#ledger/erasures/is-erased.js'
import { createValuesOf, type OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { nobodys } from '#schemas/decide.js'
import type { Refusal } from '#schemas/events.js'
import { personFieldsOf } from '#schemas/persons/about-persons.js'
import type { RecordType } from '#schemas/record.js'
import type { Submit } from '../batches/outcome.js'

/** Takes out of batches what names a person whom their organisation has had erased. They keep their ids, so that a retry meets itself. */
export type HideErased = (type: string, batches: readonly OutgoingBatch[]) => Promise<readonly OutgoingBatch[]>

/** What is hidden never gets into the log. What comes in the moments until this edge knows of an erasure integrity refuses. */
export const createHideErased = (catalogue: Catalogue, gates: Pick<GateMemory, 'has' | 'of'>): HideErased => {
  const hiderOf = (type: RecordType) => {
    const valuesOf = createValuesOf(type)
    const namesPersons = personFieldsOf(type).length > 0
    return async (batch: OutgoingBatch): Promise<OutgoingBatch> => {
      const gate = await gates.of(batch.org_id)
      if (!gate) return batch
      const isErased = createIsErased(type, gate)
      const hidden: Refusal[] = []
      const records = batch.records.filter((record) => {
        if (!namesPersons || !isErased(valuesOf(record, batch.assigns ?? false))) return true
        hidden.push(nobodysRefusal(record.index))
        return false
      })
      const refusals = batch.refusals.map((refusal) =>
        isErased(refusal.record) || (refusal.id !== null && isErased(refusal.id))
          ? nobodysRefusal(refusal.index)
          : refusal,
      )
      return { ...batch, records, refusals: [...refusals, ...hidden].sort((a, b) => a.index - b.index) }
    }
  }
  // Made when the first batch of a type asks: making all of them would be a tenth of every start of an edge.
  const hiders = new Map<string, ReturnType<typeof hiderOf>>()
  return async (name, batches) => {
    const type = catalogue.all.get(name)
    if (!type) return batches
    const hide = hiders.get(name) ?? hiderOf(type)
    hiders.set(name, hide)
    return Promise.all(batches.map(hide))
  }
}

/** As integrity refuses it, and with nothing that was sent. */
const nobodysRefusal = (index: number): Refusal => ({ ...nobodys(index), record: '{}', truncated: false })

/** Submits batches without what names erased persons; those of organisations that had nobody erased at once. */
export const createSubmitHidden =
  (submit: Submit, hide: HideErased, gates: Pick<GateMemory, 'has'>): Submit =>
  (type, batches, options) =>
    batches.some(({ org_id }) => gates.has(org_id))
      ? hide(type, batches).then((hidden) => submit(type, hidden, options))
      : submit(type, batches, options)
