import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAnswerReader, type HttpAnswer } from './connection.js'

const wire = (status: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Whatever\r\nX-A: b\r\nContent-Length: ${body.length}\r\n\r\n`), body])

const answers = fc.array(
  fc.record({
    status: fc.integer({ min: 200, max: 599 }),
    body: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  }),
  { minLength: 1, maxLength: 4 },
)

it('reads answers one after another, however the network cuts them', () => {
  fc.assert(
    fc.property(answers, fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (sent, sizes) => {
      const read = createAnswerReader()
      const heard: HttpAnswer[] = []
      for (const { status, body } of sent) {
        const bytes = wire(status, body)
        for (let from = 0; from < bytes.length; ) {
          const to = from + sizes.next().value
          const answer = read(bytes.subarray(from, to))
          if (answer) heard.push({ status: answer.status, body: Buffer.from(answer.body) })
          from = to
        }
      }
      expect(heard).toEqual(sent)
    }),
  )
})

it('refuses what it cannot measure: an answer without a length, or with more bytes than it says', () => {
  expect(() => createAnswerReader()(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toThrow(
    'Content-Length',
  )
  expect(() => createAnswerReader()(Buffer.concat([wire(200, Buffer.from('a')), Buffer.from('b')]))).toThrow('longer')
})
