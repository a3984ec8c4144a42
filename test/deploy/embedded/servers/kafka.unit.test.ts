import { expect, it } from 'vitest'
import { kafkaProperties } from '../../../../deploy/embedded/servers/kafka.js'

const read = (options: Parameters<typeof kafkaProperties>[0]) =>
  new Map(
    kafkaProperties(options)
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  )
const options = { port: 9092, controllerPort: 40_001, logDir: '/data/kafka/log' }

it('listens on loopback alone and creates no topic unasked', () => {
  const properties = read(options)
  expect(properties.get('listeners')).toBe('BROKER://127.0.0.1:9092,CONTROLLER://127.0.0.1:40001')
  expect(properties.get('advertised.listeners')).toBe('BROKER://127.0.0.1:9092')
  expect(properties.get('controller.quorum.voters')).toBe('1@127.0.0.1:40001')
  expect(properties.get('log.dirs')).toBe('/data/kafka/log')
  expect(properties.get('auto.create.topics.enable')).toBe('false')
  expect(properties.get('message.max.bytes')).toBe('33554432')
})

it('writes the folder so that Java, which reads properties as Latin-1, reads its name', () => {
  const logDirs = (logDir: string) => read({ ...options, logDir }).get('log.dirs')
  expect(logDirs('/my wéir 店/log')).toBe(String.raw`/my w\u00e9ir \u5e97/log`)
  expect(logDirs('/😀 = a: b')).toBe(String.raw`/\ud83d\ude00 = a: b`)
  expect(logDirs(String.raw`C:\data`)).toBe(String.raw`C:\\data`)
  expect(logDirs(' a\nb')).toBe(String.raw`\ a\u000ab`)
})

it('acknowledges what is on the disk, since no other broker has it', () => {
  expect(read(options).get('log.flush.interval.messages')).toBe('1')
})

it('sends those who come by the second port back through the one that stands before it', () => {
  const properties = read({ ...options, behind: { port: 9093, advertisedPort: 9094 } })
  expect(properties.get('listeners')).toBe(
    'BROKER://127.0.0.1:9092,BEHIND://127.0.0.1:9093,CONTROLLER://127.0.0.1:40001',
  )
  expect(properties.get('advertised.listeners')).toBe('BROKER://127.0.0.1:9092,BEHIND://127.0.0.1:9094')
})
