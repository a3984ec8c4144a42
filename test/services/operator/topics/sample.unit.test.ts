import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import avro from 'avsc'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { newField } from '#schemas/samples/history.js'
import { runCommand } from '../../../../services/operator/program.js'
import { checksumOf } from '../../../../services/operator/topics/sample.js'

const folder = mkdtempSync(join(tmpdir(), 'weir-topics-sample-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const run = async (...words: string[]) => {
  const said = { printed: '', noted: '' }
  const failed = await runCommand(['topics', 'sample', ...words], {
    config: { CALLED_AS: 'weir' } as never,
    log: pino({ level: 'silent' }),
    print: (text) => {
      said.printed += `${text}\n`
    },
    note: (text) => {
      said.noted += `${text}\n`
    },
    endWith: () => {},
    env: {},
    width: 80,
  })
  return { ...said, failed }
}
const linesIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

it('writes a container, what a right consumer has, and says what is in both', async () => {
  const [out, expected] = [join(folder, 'events.avro'), join(folder, 'state.ndjson')]
  const all = ['--deletes', '--duplicates', '--new-fields']
  const { printed } = await run('shops', '--count', '40', ...all, '--out', out, '--expected', expected, '--json')
  const summary = JSON.parse(printed)
  const read = await new Promise<{ name: string }[]>((resolve, reject) => {
    const events: { name: string }[] = []
    avro
      .createFileDecoder(out)
      .on('data', (event) => events.push(event))
      .on('end', () => resolve(events))
      .on('error', reject)
  })
  expect(summary).toMatchObject({ file: out, topic: 'weir.accepted.shops', records: 40, new_fields: [newField] })
  expect(read).toHaveLength(summary.events)
  expect(read.some((event) => newField in event)).toBe(true)
  const state = linesIn(readFileSync(expected, 'utf8'))
  expect(state).toHaveLength(summary.expected.records)
  expect(checksumOf(state, 'shop_id')).toBe(summary.expected.checksum)

  const again = join(folder, 'again.avro')
  await run('shops', '--count', '40', ...all, '--out', again)
  expect(readFileSync(again)).toEqual(readFileSync(out))
})

it('prints events where no file is named, and says beside them what they are', async () => {
  const { printed, noted } = await run('interactions', '--count', '5')
  expect(linesIn(printed)).toHaveLength(5)
  expect(noted).toContain('these are 5 events of 5 interactions, as on weir.interactions')
})

it.each([
  ['there is no type "shop": did you mean shops?', ['shop']],
  ['interactions are never changed or deleted', ['interactions', '--deletes']],
  ['--count is a number from 1', ['shops', '--count', '0']],
  ['--count is a number from 1', ['shops', '--count', '100001']],
  ['the end of the file', ['shops', '--out', 'events.csv']],
  ['name a file with --out', ['shops', '--json']],
  ['cannot be written (ENOENT)', ['shops', '--out', '/no-such-folder/events.avro']],
])('refuses: %s', async (message, words) => {
  const { printed, noted, failed } = await run(...words)
  expect(failed).toBe(1)
  expect(noted).toContain(message)
  expect(printed).toBe('')
})
