import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { blocksOf, showsIn } from '../../docs/snippets.js'
import { eventually } from '../../support/eventually.js'
import { kill } from '../../support/system/processes.js'
import { analyst, newOrganisation, system } from '../../support/system/system.js'
import {
  answerDifferences,
  type ConformanceCall,
  conformanceCases,
  createNames,
  type Names,
  requestDifferences,
} from '../conformance/cases.js'
import { startPythonDriver } from '../conformance/drive-python.js'

// What a stranger gets: the wheel as the edge serves it, installed by pip in an environment that has nothing else. With each Python that is here.
const versions = ['3', '3.9', '3.10', '3.11', '3.12', '3.13', '3.14']
const versionOf = (python: string): string =>
  spawnSync(python, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''
const pythons = [
  ...new Map(versions.map((version) => [versionOf(`python${version}`), `python${version}`])).entries(),
].filter(([version]) => version !== '')

it('has a Python to try', () => expect(pythons).not.toEqual([]))

const org = await newOrganisation('sdk-python')

describe.each(pythons)('%s', (version, python) => {
  let folder = ''
  const inVenv = (name: string) => join(folder, 'venv/bin', name)
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-python-'))
    await execa(python, ['-m', 'venv', join(folder, 'venv')])
    const { packages } = (await (await fetch(`${system.edgeUrl}/downloads/index.json`)).json()) as {
      packages: { install: string }[]
    }
    const [line = ''] = packages.flatMap(({ install }) => (install.startsWith('pip ') ? [install] : []))
    await execa(inVenv('pip'), ['--quiet', ...line.split(' ').slice(1)])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('runs what its README shows', async () => {
    const blocks = blocksOf(await readFile(join(packageRoot, 'clients/python/README.md'), 'utf8'))
    const textOf = (language: string) =>
      blocks.flatMap((each) => (each.language === language ? [each.text] : [])).join('\n')
    await writeFile(join(folder, 'program.py'), textOf('python').replaceAll('http://127.0.0.1:8080', system.edgeUrl))
    const { stdout } = await execa(inVenv('python'), ['program.py'], {
      cwd: folder,
      env: { WEIR_KEY: (await newOrganisation(`readme-${version.replace(/\W+/g, '-')}`.toLowerCase())).key },
    })
    expect(showsIn(textOf('text'), stdout), stdout).toBe(true)
  })

  describe.each([
    ['with threads', []],
    ['with asyncio', ['--aio']],
  ])('in earnest, %s', (_, words) => {
    let driver: ReturnType<typeof startPythonDriver>
    let watch: Awaited<ReturnType<typeof startWatch>>
    beforeAll(async () => {
      watch = await startWatch()
      driver = startPythonDriver(words, { python: inVenv('python') })
    })
    afterAll(() => {
      driver.stop()
      watch.stop()
    })

    it.each(conformanceCases.filter(({ real }) => real))('$name', async ({ calls }) => {
      const names = createNames()
      for (const call of calls) {
        const watched = watch.begin(call, names)
        const differences = await driver.drive(call, names, { url: watch.url, key: org.key })
        expect([...watched.differences, ...differences]).toEqual([])
        expect(watched.made, 'exchanges that took place').toBe(call.exchanges.length)
      }
    })
  })
})

describe('beside data frames', () => {
  let folder = ''
  const inVenv = (name: string) => join(folder, 'venv/bin', name)
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-python-'))
    await execa('python3', ['-m', 'venv', join(folder, 'venv')])
    const { packages } = (await (await fetch(`${system.edgeUrl}/downloads/index.json`)).json()) as {
      packages: { url: string }[]
    }
    const wheel = packages.map(({ url }) => url).find((url) => url.endsWith('.whl')) ?? ''
    const besides = ['pandas', 'polars', 'pyarrow', 'mypy', 'hatchling', 'build']
    await execa(inVenv('pip'), ['install', '--quiet', wheel, ...besides])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('uploads each record once and in order while edge and integrity are killed', async () => {
    const { name, key } = await newOrganisation('python-kills')
    const program = join(packageRoot, 'test/clients/python/many.py')
    const child = execa(inVenv('python'), [program, system.edgeUrl, key], { cwd: folder })
    const killAt: [number, string][] = [
      [500, 'edge'],
      [1200, 'integrity'],
      [1900, 'edge'],
    ]
    let said = ''
    for await (const line of child) {
      said = line
      if (killAt[0] && Number(line) >= killAt[0][0]) kill(killAt.shift()?.[1] ?? '')
    }
    await child
    expect(killAt).toEqual([])
    const { given, accepted, refused, retried } = JSON.parse(said)
    expect({ accepted, refused }).toEqual({ accepted: 2927, refused: 73 })
    expect(retried).toBeGreaterThan(0)
    // Every version of every id, each once, in the order in which they were given.
    await eventually(async () => {
      const kept = await analyst.query<{ shop_id: string; name: string }>(
        'select shop_id, name from weir.shops_history where org_id = {org:String} order by version',
        { org: name },
      )
      const inOrder = Object.fromEntries(Object.keys(given).map((id) => [id, [] as string[]]))
      for (const { shop_id, name: version } of kept) inOrder[shop_id]?.push(version)
      expect(inOrder).toEqual(given)
    })
  })

  it('takes frames of pandas and polars, tables, Parquet and CSV for the same records', async () => {
    const { key } = await newOrganisation('python-frames')
    const program = join(packageRoot, 'test/clients/python/frames.py')
    const { stdout } = await execa(inVenv('python'), [program, system.edgeUrl, key], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      pandas: [2, 1],
      polars: [2, 1],
      pyarrow: [2, 1],
      parquet: [2, 1],
      csv: [2, 1],
      same: true,
    })
  })

  it('brings types that mypy holds a program to, and that hold by themselves', async () => {
    await writeFile(
      join(folder, 'program.py'),
      [
        'from weir_client import Weir',
        'weir = Weir("http://127.0.0.1", "k")',
        'weir.shops.send([{"shop_id": "", "name": "", "region": ""}])',
        'weir.shops.send([{"shop_id": "", "name": "", "regoin": ""}])',
        'weir.branches.send([{"branch_id": "", "shop_id": "", "name": "", "region": "", "latitude": "north"}])',
        'weir.of("shops").send([{"anything": 1}])',
      ].join('\n'),
    )
    const { stdout } = await execa(inVenv('mypy'), ['--strict', 'program.py'], { cwd: folder, reject: false })
    const wrong = [...stdout.matchAll(/program\.py:(\d+): error/g)].map(([, line]) => line)
    expect([...new Set(wrong)], stdout).toEqual(['4', '5'])
    await execa(inVenv('mypy'), ['--config-file', 'pyproject.toml', '--cache-dir', join(folder, 'cache')], {
      cwd: join(packageRoot, 'clients/python'),
    })
  })

  it('has in its wheel what hatchling would put into one', async () => {
    const project = join(folder, 'project')
    await execa('cp', ['-r', join(packageRoot, 'clients/python'), project])
    await execa('cp', [join(packageRoot, 'LICENSE'), project])
    await execa(inVenv('python'), ['-m', 'build', '--wheel', '--no-isolation', '.'], { cwd: project })
    const compare = join(packageRoot, 'test/clients/python/compare-wheels.py')
    await execa(
      'sh',
      ['-c', `curl -sSfO $(curl -sSf ${system.edgeUrl}/downloads/index.json | grep -o 'http[^"]*whl' | head -1)`],
      {
        cwd: folder,
      },
    )
    const { stdout } = await execa(inVenv('python'), [compare, folder, join(project, 'dist')])
    expect(stdout).toBe('the same')
  })
})

/** A service between client and system that passes everything on, and notes where it is not as a call says. */
async function startWatch() {
  let watched: { call: ConformanceCall; names: Names; differences: string[]; made: number } | undefined
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const method = request.method ?? 'GET'
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const url = system.edgeUrl + request.url
    const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)))
    const init = { method, headers: passed, ...(body !== '' && { body }) }
    const exchange = watched?.call.exchanges[watched.made]
    if (watched) watched.made += 1
    const answered = await fetch(url, init)
    const text = await answered.text()
    if (watched && exchange && exchange.answer !== 'none')
      watched.differences.push(
        ...requestDifferences(watched.names, exchange.request, url, init),
        ...answerDifferences(watched.names, exchange.answer, { status: answered.status, text }),
      )
    else watched?.differences.push(`${method} ${request.url} was not asked for`)
    response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    begin: (call: ConformanceCall, names: Names) => {
      watched = { call, names, differences: [], made: 0 }
      return watched
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const hopByHop = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding']

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
