import { describe, expect, it } from 'vitest'
import { splitStatement } from '../../../../deploy/embedded/clickhouse/statement-split.js'

const insert = (text: string) => {
  const split = splitStatement(text)
  if (split.kind !== 'insert') throw new Error('not an insert with data')
  return { data: text.slice(split.dataStart), sql: split.readingFrom('/f', 'none').replace(/\s+/g, ' ') }
}

const plain = (text: string) => {
  const split = splitStatement(text)
  if (split.kind !== 'plain') throw new Error('not a plain statement')
  return split
}

describe('an INSERT with data', () => {
  it.each([
    ['INSERT INTO t FORMAT CSV\n1,2\n', '1,2\n', 'CSV'],
    ['insert into t format JSONEachRow {"a":1}', '{"a":1}', 'JSONEachRow'],
    ['INSERT INTO t FORMAT CSV \r\n\n1', '\n1', 'CSV'],
    ['/* FORMAT X */ INSERT INTO t -- VALUES\n FORMAT Avro\nObj\x01\x00\xff;', 'Obj\x01\x00\xff;', 'Avro'],
    ["INSERT INTO t VALUES (1, ';')", " (1, ';')", 'Values'],
  ])('%j is cut before its data', (text, data, format) => {
    const split = insert(text)
    expect(split.data).toBe(data)
    expect(split.sql).toContain("FROM INFILE '/f' COMPRESSION 'none'")
    expect(split.sql.endsWith(`FORMAT ${format}`)).toBe(true)
  })

  it('reads the file before SETTINGS, where the engine wants it', () => {
    expect(insert('INSERT INTO t (a) SETTINGS x=1 FORMAT CSV\n').sql).toBe(
      "INSERT INTO t (a) FROM INFILE '/f' COMPRESSION 'none' SETTINGS x=1 FORMAT CSV",
    )
  })

  it('names the file also in a folder with quotes and letters beyond ASCII', () => {
    const path = "/my wéir's 店/f"
    for (const text of ['INSERT INTO t FORMAT CSV\n1', "INSERT INTO t SELECT a FROM input('a Int8') FORMAT CSV\n1"]) {
      const split = splitStatement(text)
      expect(split.kind === 'insert' && split.readingFrom(path, 'none')).toContain(String.raw`'/my wéir\'s 店/f'`)
    }
  })

  it('is not misled by tables and columns named like keywords', () => {
    expect(insert('INSERT INTO db.values (format, `select`) VALUES (1)').data).toBe(' (1)')
    expect(insert('INSERT INTO "format" FORMAT CSV\n1').data).toBe('1')
  })

  it('puts a table of the data in the place of input()', () => {
    expect(insert("INSERT INTO t SELECT a+1 FROM input('a Int8') WHERE a>0 FORMAT CSV\n1").sql).toBe(
      "CREATE TEMPORARY TABLE `the data of this request` ENGINE = Memory EMPTY AS SELECT * FROM null('a Int8'); " +
        "INSERT INTO `the data of this request` FROM INFILE '/f' COMPRESSION 'none' FORMAT CSV; " +
        'INSERT INTO t SELECT a+1 FROM `the data of this request` WHERE a>0 ',
    )
  })

  it('may not name a file of the server', () => {
    expect(() => splitStatement("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV")).toThrow('INFILE')
  })
})

describe('a plain statement', () => {
  it.each([
    ['SELECT 1', undefined, true],
    ['SELECT 1 FORMAT JSON;', 'JSON', true],
    ['(SELECT 1) FORMAT CSV SETTINGS max_threads=1', 'CSV', true],
    ["SELECT 'a FORMAT b'", undefined, true],
    ['INSERT INTO t SELECT 1', undefined, false],
    ['INSERT INTO t (a) (SELECT 1)', undefined, false],
    ['CREATE TABLE t (format String) ENGINE = Memory', undefined, false],
  ])('%j', (text, format, answersRows) => {
    expect(plain(text)).toMatchObject({ format, answersRows })
  })

  it('loses its semicolon and keeps its letters', () => {
    expect(plain(Buffer.from("SELECT 'é;' ; -- end").toString('latin1')).sql).toBe("SELECT 'é;'")
  })

  it('is one statement', () => {
    expect(() => splitStatement('SELECT 1; SELECT 2')).toThrow('Multi-statements')
  })

  it('writes no file and makes no temporary table', () => {
    expect(() => splitStatement("SELECT 1 INTO OUTFILE '/tmp/x'")).toThrow('INTO OUTFILE')
    expect(() => splitStatement('CREATE TEMPORARY TABLE t (a Int8)')).toThrow('no session')
  })

  it('does not wait for a killed query', () => {
    expect(plain("KILL QUERY WHERE query_id = 'x' SYNC").sql).toBe("KILL QUERY WHERE query_id = 'x' ASYNC")
  })
})
