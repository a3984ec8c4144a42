import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { createProducer, FinalRefusal, type Wire } from '#platform/kafka/producer.js'

const message = { key: 'k', value: Buffer.from('v') }
/** Each of them is a piece by itself. */
const large = { key: 'k', value: Buffer.alloc(600_000) }
const never = () => new Promise<void>(() => {})

/** Wires whose sends do what the test says, one after another; all that is done to them is noted. */
const wires = (...sends: ((wire: number) => Promise<void>)[]) => {
  const done: string[] = []
  let opened = 0
  const open = async (): Promise<Wire> => {
    const wire = ++opened
    return {
      send: async () => {
        done.push(`send on ${wire}`)
        await (sends.shift() ?? (async () => {}))(wire)
      },
      reset: () => done.push(`reset ${wire}`),
      close: async () => {
        done.push(`close ${wire}`)
      },
    }
  }
  return { open, done }
}

it('tries again until Kafka takes it, on the same connections while they answer', async () => {
  const { open, done } = wires(() => Promise.reject(new Error('leader moved')))
  const producer = await createProducer(open)
  await producer.send('t', 0, [message])
  expect(done).toEqual(['send on 1', 'send on 1'])
})

it('cuts off a send at its deadline, together with its connections, and never tries it again', async () => {
  const { open, done } = wires(never)
  const producer = await createProducer(open)
  const deadline = performance.now() + 50
  await expect(producer.send('t', 0, [message], { deadline })).rejects.toThrow('Kafka did not take 1 messages for t/0')
  expect(done).toEqual(['send on 1', 'reset 1'])
  // Not before: timers count in whole milliseconds, and may ring within the last one.
  expect(performance.now()).toBeGreaterThan(deadline - 1)
  await producer.send('t', 0, [message])
  expect(done).toEqual(['send on 1', 'reset 1', 'send on 2'])
})

it('sends nothing once its deadline is over, be it the first piece or a later one', async () => {
  const { open, done } = wires()
  const clock = { ms: 0 }
  const producer = await createProducer(open, () => clock.ms)
  await expect(producer.send('t', 0, [message], { deadline: 0 })).rejects.toThrow()
  expect(done).toEqual([])
  const mayGoOn = vi.fn(() => {
    if (mayGoOn.mock.calls.length === 3) clock.ms = 100
  })
  await expect(producer.send('t', 0, Array(4).fill(large), { deadline: 100, mayGoOn })).rejects.toThrow()
  expect(done).toEqual(['send on 1', 'send on 1'])
})

it('asks before each piece and each try whether it may go on', async () => {
  const { open, done } = wires(() => Promise.reject(new Error('leader moved')))
  const producer = await createProducer(open)
  let asked = 0
  const mayGoOn = () => {
    if (++asked === 3) throw new Error('the partition is lost')
  }
  await expect(producer.send('t', 0, Array(2).fill(large), { mayGoOn })).rejects.toThrow('the partition is lost')
  expect(done).toEqual(['send on 1', 'send on 1'])
})

it('does not try again what Kafka refuses for good', async () => {
  const { open, done } = wires(() => Promise.reject(new FinalRefusal('too large')))
  const producer = await createProducer(open)
  await expect(producer.send('t', 0, [message])).rejects.toMatchObject({ cause: { message: 'too large' } })
  expect(done).toEqual(['send on 1'])
})

it('ends every send when it is to give up, and takes no other', async () => {
  const { open, done } = wires(never, never)
  const producer = await createProducer(open)
  const sends = [producer.send('t', 0, [message]), producer.send('t', 1, [message])]
  const ended = Promise.all(sends.map((sent) => expect(sent).rejects.toThrow('Kafka did not take')))
  await new Promise(setImmediate)
  producer.giveUp()
  await ended
  await expect(producer.send('t', 0, [message])).rejects.toThrow()
  expect(done).toEqual(['send on 1', 'send on 1', 'reset 1'])
})

it('keeps nothing of a send that is over', async () => {
  const { open } = wires()
  const producer = await createProducer(open)
  const sendMany = async () => {
    for (let n = 0; n < 20_000; n++) await producer.send('t', 0, [message])
  }
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  await sendMany()
  collect()
  const before = process.memoryUsage().heapUsed
  await sendMany()
  collect()
  // The sends that the wires note take part of it; a hundred bytes a send would be 2 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000)
})

it('closes quietly when nothing is under way, and cuts off what is', async () => {
  const quiet = wires()
  await (await createProducer(quiet.open)).close()
  expect(quiet.done).toEqual(['close 1'])
  const busy = wires(never)
  const producer = await createProducer(busy.open)
  const sent = expect(producer.send('t', 0, [message])).rejects.toThrow()
  await new Promise(setImmediate)
  await producer.close()
  await sent
  expect(busy.done).toEqual(['send on 1', 'reset 1'])
})

it('sends at most a megabyte at once, keys and framing included, and a larger message by itself', async () => {
  const sent: number[] = []
  const send: Wire['send'] = async (_topic, _partition, messages) => void sent.push(messages.length)
  const producer = await createProducer(async () => ({ send, reset: () => {}, close: async () => {} }))
  const ofSize = (bytes: number) => ({ key: 'k', value: Buffer.alloc(bytes) })
  // 18 bytes each.
  await producer.send('t', 0, Array(60_000).fill(message))
  expect(sent.splice(0)).toEqual([58_254, 1_746])
  await producer.send('t', 0, Array(5).fill(ofSize(400_000)))
  expect(sent.splice(0)).toEqual([2, 2, 1])
  await producer.send('t', 0, [message, ofSize(3_000_000), message])
  expect(sent.splice(0)).toEqual([1, 1, 1])
  await producer.send('t', 0, [])
  expect(sent).toEqual([])
})
