// The Python SDK as a wheel, which is a zip with a few files about it. Made here and not by pip, so that a machine without Python can serve it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { root } from './tool.mjs'

/** Writes the wheel into `folder`; the same sources give the same bytes. */
export function makeWheel(folder) {
  const project = readFileSync(join(root, 'clients/python/pyproject.toml'), 'utf8')
  const { name, version } = { name: textIn(project, 'name'), version: textIn(project, 'version') }
  const about = `${name.replaceAll('-', '_')}-${version}.dist-info`
  const source = join(root, 'clients/python/src')
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.py$|^py\.typed$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))
    .sort()
    .map((path) => ({ path, bytes: readFileSync(join(source, path)) }))
  files.push(
    { path: `${about}/METADATA`, bytes: Buffer.from(metadataOf(project, name, version)) },
    {
      path: `${about}/WHEEL`,
      bytes: Buffer.from('Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    },
    { path: `${about}/licenses/LICENSE`, bytes: readFileSync(join(root, 'LICENSE')) },
  )
  const lines = files.map(({ path, bytes }) => {
    const hash = createHash('sha256').update(bytes).digest('base64url')
    return `${path},sha256=${hash},${bytes.length}\n`
  })
  files.push({ path: `${about}/RECORD`, bytes: Buffer.from(`${lines.join('')}${about}/RECORD,,\n`) })
  writeFileSync(join(folder, `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`), zipOf(files))
}

const textIn = (toml, name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(toml)?.[1] ?? ''
const listIn = (toml, name) =>
  [...(new RegExp(`^${name} = \\[(.*)\\]$`, 'm').exec(toml)?.[1] ?? '').matchAll(/"([^"]*)"/g)].map(([, each]) => each)

function metadataOf(project, name, version) {
  const optional = /^\[project\.optional-dependencies\]\n((?:.+\n)*)/m.exec(project)?.[1] ?? ''
  const extras = [...optional.matchAll(/^([\w-]+) = /gm)].map(([, extra]) => extra)
  return [
    'Metadata-Version: 2.4',
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${textIn(project, 'description')}`,
    `License-Expression: ${textIn(project, 'license')}`,
    'License-File: LICENSE',
    `Requires-Python: ${textIn(project, 'requires-python')}`,
    ...listIn(project, 'dependencies').map((each) => `Requires-Dist: ${each}`),
    ...extras.flatMap((extra) => [
      `Provides-Extra: ${extra}`,
      ...listIn(optional, extra).map((each) => `Requires-Dist: ${each} ; extra == '${extra}'`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readFileSync(join(root, 'clients/python/README.md'), 'utf8'),
  ].join('\n')
}

/** A zip of these files: for each its header and its bytes, then all headers once more as the list of what there is. */
function zipOf(files) {
  const parts = []
  const list = []
  let at = 0
  for (const { path, bytes } of files) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(bytes, { level: 9 })
    // Version 2.0, names in UTF-8, deflated, at the first moment that a zip can tell (1980): a time of its own would change the checksum.
    const common = Buffer.alloc(26)
    for (const [offset, value] of [
      [0, 20],
      [2, 0x0800],
      [4, 8],
      [8, 0x21],
      [22, name.length],
    ])
      common.writeUInt16LE(value, offset)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    const rest = Buffer.alloc(14)
    // Rights of a file that all may read.
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6)
    rest.writeUInt32LE(at, 10)
    list.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, name)
    const entry = [Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]
    parts.push(...entry)
    at += entry.reduce((sum, { length }) => sum + length, 0)
  }
  const listed = Buffer.concat(list)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, listed, end])
}
