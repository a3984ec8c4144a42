import type { Call, CallOptions } from '../call.js'
import type { PersonExport } from '../endpoints.js'

/** For a key with the scope `persons:read`. */
export type Persons = {
  /**
   * Everything that is kept about a person: a customer_id, student_id or user_id. That it was asked for is in the audit. It is held in memory;
   * for a person with a million interactions ask for `GET /v1/persons/{id}/export` yourself, into a file.
   */
  export: (personId: string, options?: CallOptions) => Promise<PersonExport>
}

export const createPersons = (call: Call): Persons => ({
  export: async (personId, options) => {
    const path = `/v1/persons/${encodeURIComponent(personId)}/export`
    return (await call({ method: 'GET', path, mayTakeLong: true }, options)).json as PersonExport
  },
})
