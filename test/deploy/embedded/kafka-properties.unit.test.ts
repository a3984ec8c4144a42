import { expect, it } from 'vitest'
import { kafkaProperties } from '../../../deploy/embedded/parts/kafka-properties.js'

it('listens on loopback alone and creates no topic unasked', () => {
  const text = kafkaProperties({ port: 9092, controllerPort: 40_001, logDir: '/data/kafka/log' })
  const properties = new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  )
  expect(properties.get('listeners')).toBe('BROKER://127.0.0.1:9092,CONTROLLER://127.0.0.1:40001')
  expect(properties.get('advertised.listeners')).toBe('BROKER://127.0.0.1:9092')
  expect(properties.get('controller.quorum.voters')).toBe('1@127.0.0.1:40001')
  expect(properties.get('log.dirs')).toBe('/data/kafka/log')
  expect(properties.get('auto.create.topics.enable')).toBe('false')
  expect(properties.get('message.max.bytes')).toBe('33554432')
})
