import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A file of the console as it is sent; `zipped` resolves to what is shorter, if that is. */
export type Page = { type: string; etag: string; plain: Buffer; zipped: () => Promise<Buffer | undefined> }

/** Everything that is served is here by its path, as `files/index-03KdSxaE.js`: what is not in this map cannot be asked for. */
export type Pages = ReadonlyMap<string, Page>

/** Reads all files of a folder, once: no request ever names a path on the disk. Without a console there are no pages. */
export const readPages = (folder: string): Pages => {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.flatMap((entry): [string, Page][] => {
      const path = join(entry.parentPath, entry.name)
      const type = types[extname(entry.name)]
      return type ? [[relative(folder, path).split(sep).join('/'), toPage(type, readFileSync(path))]] : []
    }),
  )
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

const toPage = (type: string, plain: Buffer): Page => {
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  let zipped: Promise<Buffer | undefined> | undefined
  // When it is first asked for: to pack all of them took half a second of every start of an edge.
  const zip = async () => {
    const packed = await promisify(gzip)(plain, { level: 9 })
    return packed.length < plain.length ? packed : undefined
  }
  return { type, etag, plain, zipped: () => (zipped ??= zip()) }
}
