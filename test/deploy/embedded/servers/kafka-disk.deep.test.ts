import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { kafkaPart } from '../../../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../../../deploy/embedded/supervision/supervisor.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { diskOrSkip, openSmallDisk } from '../../../support/small-disk.js'

const opened = await openSmallDisk(64)
afterAll(() => ('close' in opened ? opened.close() : undefined))

const topic = 'some'

it('keeps what it took when the disk has no room for its index, and nothing twice, and goes on when there is', {
  timeout: 240_000,
}, async (test) => {
  const disk = diskOrSkip(opened, test)
  const [port = 0] = await freePorts(1)
  const reports: string[] = []
  const { dataDir } = disk
  const part = superviseProcess(kafkaPart({ dataDir, port }), { dataDir, report: (line) => reports.push(line) })
  await part.start()
  try {
    const kafka = createKafka({ brokers: `127.0.0.1:${port}`, clientId: 'test', log: pino({ level: 'silent' }) })
    await createTopics(kafka, { topic })
    const producer = await kafka.createProducer()
    const send = (value: Buffer) => producer.send(topic, 0, [{ key: 'one', value }])

    // More than the 4096 bytes after which Kafka writes into the index, in a page of the log that has room for a little more.
    const first = randomBytes(4300)
    await send(first)
    await disk.fill()
    await eventually(async () => expect((await statfs(dataDir)).bavail).toBe(0))
    await expect(send(randomBytes(20))).rejects.toThrow('Kafka did not take')
    expect(reports[0]).toMatch(/^kafka ended \(.*, the disk is full\); starting it again$/)
    await disk.free()

    const second = randomBytes(5000)
    await eventually(() => send(second), 60_000)
    const kept: { offset: number; value: Buffer | null }[] = []
    await readTopics(kafka, await stretchesOf(kafka, [topic]), async ({ messages }) => {
      kept.push(...messages.map(({ offset, value }) => ({ offset, value })))
    })
    expect(kept[0]?.value).toEqual(first)
    expect(kept.at(-1)?.value).toEqual(second)
    expect(kept.map(({ offset }) => offset)).toEqual(kept.map((_, i) => i))
    await producer.close()
  } finally {
    await part.stop()
  }
})
