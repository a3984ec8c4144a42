import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { banner } from '../../../../deploy/embedded/launcher/banner.js'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'

const key = `weir_${'i'.repeat(12)}_${'s'.repeat(38)}`

describe('the banner', () => {
  it('fits a terminal of 80 columns, but for the line to paste', () => {
    const lines = banner(readConfig({ DATA_DIR: '/srv/weir' }), key)
      .split('\n')
      .filter((line) => !line.startsWith('curl'))
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('shows where everything is, the key, and a line to try', () => {
    const text = banner(readConfig({ DATA_DIR: '/srv/weir', EDGE_HOST: '0.0.0.0', EDGE_PORT: '9000' }), key)
    for (const part of [
      ':9000/console',
      '127.0.0.1:9092',
      ':8081/apis/ccompat/v7',
      ':8123',
      ':5432/weir',
      '/srv/weir/logs',
      key,
    ]) {
      expect(text).toContain(part)
    }
    expect(text).toContain('curl -s http://127.0.0.1:9000/v1/data/shops')
  })

  it('shows the page for queries of its own ClickHouse', () => {
    expect(banner(readConfig({ CLICKHOUSE_PORT: '18123' }), key)).toContain('http://127.0.0.1:18123/play')
    expect(banner(readConfig({ CLICKHOUSE_URL: 'http://ch.example:8123' }), key)).not.toContain('/play')
  })

  it("sends the README's first upload", () => {
    const bodyIn = (text: string) => JSON.parse(/-d '([^']+)'/.exec(text)?.[1] ?? '')
    const readme = readFileSync('README.md', 'utf8')
    expect(bodyIn(banner(readConfig({}), key))).toEqual(bodyIn(readme.slice(readme.indexOf('## A first upload'))))
  })

  it('does not show the password of a server elsewhere', () => {
    const text = banner(readConfig({ POSTGRES_URL: 'postgres://weir:secret@db.example/weir' }), key)
    expect(text).toContain('db.example')
    expect(text).not.toContain('secret')
  })
})
