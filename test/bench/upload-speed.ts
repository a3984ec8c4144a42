// node deploy/embedded/run-source.mjs test/bench/upload-speed.ts [rows]: how long `weir upload` of a CSV of shops takes, beside the
// same requests made beforehand and sent over plain sockets. Both go to one system of its own, in turns.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { shop } from '#schemas/records/shop.js'
import { formOf, openRows } from '../../clients/uploader/read/open-rows.js'
import { createToRecord } from '../../clients/uploader/records/mapping.js'
import { chunkSizeOf, toChunks } from '../../clients/uploader/send/chunks.js'
import { uploaderFlags } from '../../deploy/embedded/run-uploader.mjs'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'
import { openConnection } from './load/connection.js'

const rows = Number(process.argv[2] ?? 100_000)
const turns = 2
const atOnce = 8

const folder = await mkdtemp(join(tmpdir(), 'weir-upload-speed-'))
const { system, stop } = await startWholeSystem()
const bare: number[] = []
const uploaded: number[] = []
let peak = 0
try {
  // Once without counting: what is compiled and cached on the first way through would count for one of the two.
  await sendBare(await makeFile('warm-up', Math.min(rows, 20_000)))
  for (let turn = 0; turn < turns; turn++) {
    bare.push(await sendBare(await makeFile(`bare-${turn}`, rows)))
    uploaded.push(await upload(await makeFile(`uploaded-${turn}`, rows)))
  }
} finally {
  await stop()
  await rm(folder, { recursive: true, force: true })
}
const mean = (seconds: number[]) => seconds.reduce((sum, each) => sum + each, 0) / seconds.length
process.stdout.write(
  `${JSON.stringify({ rows, bare, uploaded, ratio: mean(uploaded) / mean(bare), uploader_peak_mb: Math.round(peak) })}\n`,
)

/** Shops that no other file has. */
async function makeFile(name: string, shops: number): Promise<string> {
  const out = join(folder, name)
  const seed = String(Math.floor(Math.random() * 1e9))
  await weir(system, ['sample', '--types', 'shops', '--shops', `${shops}`, '--seed', seed, '--out', out])
  return join(out, 'shops.csv')
}

async function upload(file: string): Promise<number> {
  const begunAt = performance.now()
  const running = weir(system, ['upload', file])
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${running.pid}/status`, 'utf8').catch(() => '')
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000)
  }, 100)
  await running
  clearInterval(timer)
  return (performance.now() - begunAt) / 1000
}

async function sendBare(file: string): Promise<number> {
  const given = await openRows(file, await formOf(file))
  const toRecord = createToRecord(shop, given.columns, { map: new Map(), constants: new Map(), skipUnknown: false })
  const bodies: Buffer[] = []
  for await (const chunk of toChunks(given, chunkSizeOf(shop, false), { offset: 0, records: 0 }))
    bodies.push(Buffer.from(JSON.stringify({ records: chunk.rows.map(toRecord) })))
  const { host } = new URL(system.edgeUrl)
  const begunAt = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const connection = await openConnection(system.edgeUrl)
      for (let body = bodies.shift(); body; body = bodies.shift()) {
        const head = `POST /v1/data/shops HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${system.demoKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
        const { status, body: said } = await connection.send(Buffer.from(head), body)
        if (status !== 200) throw new Error(`answered ${status}: ${said.toString().slice(0, 500)}`)
      }
      connection.close()
    }),
  )
  return (performance.now() - begunAt) / 1000
}

function weir({ edgeUrl, demoKey }: WholeSystem, words: string[]) {
  return execa(process.execPath, [...uploaderFlags, 'dist/clients/uploader/main.js', ...words], {
    env: { WEIR_URL: edgeUrl, WEIR_KEY: demoKey },
  })
}
