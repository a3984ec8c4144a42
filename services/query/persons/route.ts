import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { acceptsCsv, callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import type { Doer } from '#ledger/audit.js'
import type { OpenPersonExport } from '#persons/export.js'
import { asCsvText, asJsonText, inPieces } from '#persons/written.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { exportPerson } from '#schemas/endpoints/persons/persons.js'
import type { Reads } from '../reads.js'

export type PersonDeps = {
  catalogue: Catalogue
  openPersonExport: OpenPersonExport
  /** Notes who exported whom. */
  notePersonExport: (by: Doer, orgId: string, personId: string) => Promise<void>
  personReads: Reads
}

// A person with a million interactions is sent in minutes; the connection is silent while the next of them are looked for.
const mostSilence = 180_000

/** GET /v1/persons/{id}/export: everything that is kept about one person. */
export const addPersons = (app: FastifyInstance, deps: PersonDeps): void => {
  const read = on(exportPerson, ({ parameters: { id } }, request, reply) => {
    const { orgId, keyId } = callerOf(request)
    reply.header('vary', 'accept')
    reply.raw.setTimeout(mostSilence, () => reply.raw.destroy())
    return deps.personReads(orgId, async () => {
      const found = await deps.openPersonExport(orgId, id)
      if (!found) return { error: nobody }
      // Before the first byte is sent: nothing leaves that is not in the audit.
      await deps.notePersonExport({ actor: keyId ?? 'nobody', requestId: request.id }, orgId, id)
      const isCsv = acceptsCsv(request)
      // What goes wrong from here on ends the connection: an answer that is not whole has no end. The turn is over when all of it is sent.
      return await reply
        .type(isCsv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="person.${isCsv ? 'csv' : 'json'}"`)
        .send(Readable.from(inPieces(isCsv ? asCsvText(found) : asJsonText(found)), { objectMode: false }))
    })
  })
  addEndpoints(app, deps.catalogue, [read])
}

const nobody = requestError(
  404,
  'nothing of yours is kept about a person with this id: a person is a customer_id, a student_id or a user_id, as it stands in your records; what was just accepted is there in a moment',
)
