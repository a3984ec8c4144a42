import { expect, it } from 'vitest'
import {
  conformanceCases,
  createNames,
  type Exchange,
  type Names,
  requestDifferences,
} from '../clients/conformance/cases.js'
import { driveSdk } from '../clients/conformance/drive-sdk.js'
import { newOrganisation, system } from '../support/system/system.js'

const org = await newOrganisation('sdk')

// The scripts of the unit test are right only if the system answers as they say.
it.each(conformanceCases.filter(({ real }) => real))('in earnest: $name', async ({ calls }) => {
  const names = createNames()
  for (const call of calls) {
    const watched = watch(call.exchanges, names)
    const differences = await driveSdk(call, names, { url: system.edgeUrl, key: org.key, fetch: watched.fetch })
    expect([...watched.differences, ...differences]).toEqual([])
    expect(watched.left(), 'exchanges that did not take place').toBe(0)
  }
})

/** Passes requests on to the system, and notes where they or their answers are not as they should be. */
const watch = (exchanges: readonly Exchange[], names: Names) => {
  const differences: string[] = []
  let made = 0
  const watchedFetch: typeof fetch = async (input, init = {}) => {
    const exchange = exchanges[made]
    made += 1
    const response = await fetch(input, init)
    if (!exchange || exchange.answer === 'none') {
      differences.push(`request ${made} was not asked for`)
      return response
    }
    const { status, body } = exchange.answer
    const found = [
      ...requestDifferences(names, exchange.request, String(input), init),
      ...names.differences(
        { status, body },
        { status: response.status, body: await response.clone().json() },
        'answer',
        false,
      ),
    ]
    differences.push(...found.map((difference) => `request ${made}: ${difference}`))
    return response
  }
  return { fetch: watchedFetch, differences, left: () => exchanges.length - made }
}
