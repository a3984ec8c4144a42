import type { Broker } from 'kafkajs'

/** A request as kafkajs made it for the version that it agreed on with the broker, and how it reads the answer. */
type BrokerCall = {
  request: { apiVersion: number; encode: () => Promise<Encoded> }
  response: { decode: (answer: Buffer) => Promise<unknown>; parse: (decoded: unknown) => Promise<unknown> }
}

/** What kafkajs takes for an encoder of its own. */
type Encoded = { buf: Buffer; buffer: Buffer }

/** kafkajs has this; its types leave it out. */
type Lookup = (apiKey: number, definitions: unknown) => (options: unknown) => BrokerCall

/** The same broker, with its next call changed: connections, logins, versions and timeouts stay kafkajs's own. */
export const changingCalls = <B extends Broker>(broker: B, change: (call: BrokerCall) => BrokerCall): B => {
  const { lookupRequest } = broker as B & { lookupRequest: Lookup }
  const changed: Lookup = (apiKey, definitions) => (options) => change(lookupRequest(apiKey, definitions)(options))
  return Object.create(broker, { lookupRequest: { value: changed } })
}
