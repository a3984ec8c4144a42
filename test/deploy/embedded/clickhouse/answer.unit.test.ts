import { describe, expect, it } from 'vitest'
import { chooseEncoding, contentTypeOf } from '../../../../deploy/embedded/clickhouse/answer.js'
import { readConfig } from '../../../../deploy/embedded/clickhouse/config.js'
import { prelude } from '../../../../deploy/embedded/clickhouse/engine.js'
import { errorBody, statusOf, toClickHouseError } from '../../../../deploy/embedded/clickhouse/errors.js'

describe('what goes back to the client', () => {
  it('is an error without the wrapping of the engine and without our file', () => {
    const error = toClickHouseError(
      new Error(
        'Code: 27. DB::Exception: Code: 27. DB::Exception: Cannot parse: (at row 2)\n: (in file/uri /d/spool/1): ' +
          'While executing File: data for INSERT was parsed from file. (BAD) (version 26.7.2.1). (BAD)',
      ),
    )
    expect(errorBody(error, '26')).toBe(
      'Code: 27. DB::Exception: Cannot parse: (at row 2)\n: While executing File. (BAD) (version 26 (official build))\n',
    )
  })

  it('names who has signed in, where the engine names its one user', () => {
    const denied = new Error('Code: 497. DB::Exception: default: Not enough privileges. (ACCESS_DENIED)')
    const readBy = (user?: string) => toClickHouseError(toClickHouseError(denied), user).message
    expect(readBy('analyst_acme_masked')).toBe('analyst_acme_masked: Not enough privileges.')
    expect(readBy()).toBe('default: Not enough privileges.')
  })

  it.each([
    [60, 404],
    [62, 400],
    [516, 403],
    [164, 500],
    [159, 408],
    [48, 501],
  ])('code %i has status %i', (code, status) => expect(statusOf(code)).toBe(status))

  it.each([
    ['JSON', 'application/json; charset=UTF-8'],
    ['JSONEachRow', 'application/x-ndjson; charset=UTF-8'],
    ['JSONCompactEachRowWithNames', 'application/x-ndjson; charset=UTF-8'],
    ['TSV', 'text/tab-separated-values; charset=UTF-8'],
    ['CSVWithNames', 'text/csv; charset=UTF-8; header=present'],
    ['Native', 'application/octet-stream'],
    ['Pretty', 'text/plain; charset=UTF-8'],
  ])('%s is %s', (format, type) => expect(contentTypeOf(format)).toBe(type))

  it('is packed in a way both sides know', () => {
    expect(chooseEncoding('lz4,zstd,gzip,deflate')).toBe('gzip')
    expect(chooseEncoding('gzip;q=0, br')).toBe('br')
    expect(chooseEncoding('zstd')).toBeUndefined()
  })
})

describe('what goes to the engine', () => {
  it('quotes values and locks with readonly last', () => {
    const settings = new Map([
      ['param_x', "a'; DROP"],
      ['b`c', '\\'],
    ])
    expect(prelude({ database: 'we-ir', settings, readonly: '2' })).toMatch(
      /^USE `we-ir`; SET .*, param_x='a\\'; DROP', `b\\`c`='\\\\'; SET readonly='2';$/,
    )
  })
})

describe('the config', () => {
  it('tells every problem at once', () => {
    expect(() => readConfig({ CLICKHOUSE_PORT: 'x' })).toThrow(/PORT.*PATH.*UV_THREADPOOL_SIZE/)
  })
})
