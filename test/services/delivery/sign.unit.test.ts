import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { signedHeaders } from '../../../services/delivery/sign.js'

it('signs so that the library of Standard Webhooks takes it, with each secret that is valid, and with no other', () => {
  const secret = fc
    .uint8Array({ minLength: 24, maxLength: 24 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  fc.assert(
    fc.property(fc.uniqueArray(secret, { minLength: 3, maxLength: 3 }), fc.json(), ([own, former, other], body) => {
      const headers = signedHeaders('msg_1', body, [own ?? '', former ?? ''], Date.now())
      for (const each of [own, former]) new Webhook(each ?? '').verify(body, headers)
      expect(() => new Webhook(other ?? '').verify(body, headers)).toThrow()
      expect(() => new Webhook(own ?? '').verify(`${body} `, headers)).toThrow()
    }),
  )
})
