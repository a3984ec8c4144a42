import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { provisionTables } from '../../../services/operator/provision/tables.js'
import { startClickHouseAlone } from '../../support/stack.js'
import { openPythonPackages } from '../python-packages.js'
import { fillForAnalysts } from './world.js'

// docs/notebooks/weir.ipynb, run from its first cell to its last, on a ClickHouse of its own.

const notebook = join(packageRoot, 'docs/notebooks/weir.ipynb')
const text = await readFile(notebook, 'utf8')
// What the notebook names, with what runs a notebook in the place of a page that shows it.
const packages = (/pip install ([\w -]+)`/.exec(text)?.[1] ?? '').replace('jupyterlab', 'nbclient ipykernel')
const install = `pip install ${packages}`
const python = await openPythonPackages([{ page: '', line: 0, language: 'sh', text: install }])
const folder = await mkdtemp(join(tmpdir(), 'weir-notebook-'))

const parts = await startClickHouseAlone()
const clickhouse = createClickHouse(parts.env.CLICKHOUSE_URL)

beforeAll(async () => {
  await provisionTables(clickhouse, catalogue)
  await fillForAnalysts(clickhouse, 'demo')
  if ('whyNot' in python) return
  await execa('bash', ['-e', '-c', `python3 -m venv .venv; . .venv/bin/activate; ${install}`], {
    cwd: folder,
    env: python.env,
  })
})
afterAll(async () => {
  await clickhouse.close()
  await parts.stop()
  await rm(folder, { recursive: true, force: true })
})

const program = `
import json, sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=300).execute()
print(json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == 'code']))
`
type Output = { output_type: string; text?: string; data?: Record<string, string> }

/** What each cell with code gave. The user is the one of analysts, who only reads. */
const run = async (org: string): Promise<Output[][]> => {
  const { port } = new URL(parts.env.CLICKHOUSE_URL)
  const own = { HOME: folder, IPYTHONDIR: folder, MPLCONFIGDIR: folder }
  const env = { ...own, CLICKHOUSE_PORT: port, WEIR_ORG: org }
  const { stdout } = await execa(join(folder, '.venv/bin/python'), ['-c', program, notebook], { cwd: folder, env })
  return JSON.parse(stdout)
}

it('draws five marts', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const [connected, ...cells] = await run('demo')
  expect(connected).toEqual([])
  expect(cells).toHaveLength(5)
  for (const outputs of cells) {
    expect(outputs.map(({ output_type }) => output_type)).toEqual(['display_data'])
    expect(outputs[0]?.data?.['image/png']).toMatch(/^iVBOR/)
  }
})

it('says so where there is nothing to draw yet', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const [, ...cells] = await run('nobody')
  for (const outputs of cells)
    expect(outputs.map((each) => each.text)).toEqual([expect.stringMatching(/: no rows yet\n$/)])
})

it('is stored with its pictures, and stays small', () => {
  expect(text.match(/"image\/png"/g)).toHaveLength(5)
  expect(Buffer.byteLength(text)).toBeLessThan(200_000)
})
