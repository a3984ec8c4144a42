import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, inflateRawSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestError, sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import { isKnown } from '#query/console/route.js'

/** A package of ours, as npm packs it, or a wheel of Python. */
export type Download = {
  file: string
  name: string
  version: string
  description: string
  /** Whether it brings a command, and is installed for a machine rather than for a project. */
  hasCommand: boolean
  isWheel: boolean
  bytes: Buffer
  sha256: string
}

/** Reads the packages that the set-up has made, once: no request ever names a path on the disk. */
export const readDownloads = (folder: string): Download[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((file) => /\.(tgz|whl)$/.test(file))
    .sort()
    .map((file) => {
      const bytes = readFileSync(join(folder, file))
      const isWheel = file.endsWith('.whl')
      const { name, version, description, bin } = isWheel ? wheelIn(bytes) : packageIn(bytes)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { file, name, version, description, hasCommand: bin !== undefined, isWheel, bytes, sha256 }
    })

/** /downloads/, which needs no key: what uploaders run on their own machines, with its checksums. */
export const addDownloads = (app: FastifyInstance, downloads: readonly Download[]): void => {
  const send = (request: FastifyRequest, reply: FastifyReply, type: string, content: string | Buffer) => {
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
    // Asked for again each time, and answered 304: after an upgrade nobody installs the old one.
    reply.headers({ etag, 'cache-control': 'no-cache', 'content-security-policy': policy })
    return isKnown(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.type(type).send(content)
  }
  const byFile = new Map(downloads.map((download) => [download.file, download]))

  // With the slash, so that relative links lie below /downloads/ too.
  addResource(app, '/downloads', { GET: { handler: async (_, reply) => reply.redirect('/downloads/', 308) } })
  addResource(app, '/downloads/', {
    GET: {
      handler: async (request, reply) =>
        send(request, reply, 'text/html; charset=utf-8', pageOf(downloads, addressOf(request))),
    },
  })
  addResource(app, '/downloads/:file', {
    GET: {
      handler: async (request, reply) => {
        const { file } = request.params as { file: string }
        if (file === 'index.json') {
          const packages = downloads.map((each) => listed(each, addressOf(request)))
          return send(request, reply, 'application/json; charset=utf-8', `${JSON.stringify({ packages })}\n`)
        }
        if (file === 'SHA256SUMS') {
          const lines = downloads.map(({ sha256, file: name }) => `${sha256}  ${name}\n`)
          return send(request, reply, 'text/plain; charset=utf-8', lines.join(''))
        }
        const found = byFile.get(file)
        const type = found?.isWheel ? 'application/zip' : 'application/gzip'
        return found ? send(request, reply, type, found.bytes) : sendError(reply, noSuchFile)
      },
    },
  })
}

const noSuchFile = requestError(404, 'there is no such file here; /downloads/ lists what there is')

/** Where this client reaches the edge, as far as its request tells. */
const addressOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`

const listed = ({ bytes, hasCommand, isWheel, ...about }: Download, address: string) => {
  const url = `${address}/downloads/${about.file}`
  const install = isWheel ? `pip install ${url}` : `npm install ${hasCommand ? '-g ' : ''}${url}`
  return { ...about, bytes: bytes.length, url, install }
}

type About = { name: string; version: string; description: string; bin?: unknown }

/** What the METADATA of a wheel says: a zip has a header of 30 bytes before each file, with the lengths of its name and of its bytes. */
const wheelIn = (zip: Buffer): About => {
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50; ) {
    const [length, name, extra] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26), zip.readUInt16LE(at + 28)]
    const begins = at + 30 + name + extra
    if (zip.toString('utf8', at + 30, at + 30 + name).endsWith('.dist-info/METADATA')) {
      const text = inflateRawSync(zip.subarray(begins, begins + length)).toString()
      const textOf = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(text)?.[1] ?? ''
      return { name: textOf('Name'), version: textOf('Version'), description: textOf('Summary') }
    }
    at = begins + length
  }
  throw new Error('a wheel without METADATA')
}

/** The package.json in a package: tar keeps a header of 512 bytes before each file, with its name and, in octal, its size. */
const packageIn = (zipped: Buffer): About => {
  const tar = gunzipSync(zipped)
  for (let at = 0; at < tar.length; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*/s, '')
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8) || 0
    if (name === 'package/package.json') return JSON.parse(tar.toString('utf8', at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error('a package without a package.json')
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}' +
  'pre{overflow-x:auto;padding:.75rem;border:1px solid #8888}code,pre{font-family:ui-monospace,monospace;font-size:.9em}' +
  'dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}'

// The page has one style and no script, and reaches no other address.
const policy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const pageOf = (downloads: readonly Download[], address: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Weir: downloads</title>
<style>${style}</style>
</head>
<body>
<h1>Downloads</h1>
<p>What you run on your own machine: it needs Node 20 or later, or Python 3.9 or later.
The lines to paste hold this server's address as your browser knows it.</p>
${downloads.map((each) => sectionOf(each, address)).join('\n')}
${downloads.length === 0 ? '<p>This server was built without them.</p>' : '<p>All checksums: <a href="SHA256SUMS">SHA256SUMS</a>; for programs: <a href="index.json">index.json</a>.</p>'}
<p>Every route, field and error is in the <a href="/docs">documentation</a>; in a browser, use the <a href="/console/">console</a>.</p>
</body>
</html>
`

const sectionOf = (download: Download, address: string): string => {
  const { install } = listed(download, address)
  const { file, name, version, description, bytes, sha256, hasCommand, isWheel } = download
  const imported = isWheel ? `import ${name.replaceAll('-', '_')}` : `import … from '${name}'`
  const next = hasCommand ? `${name} --help` : imported
  return `<h2>${escaped(name)} ${escaped(version)}</h2>
<p>${escaped(description)}</p>
<pre tabindex="0">${escaped(install)}</pre>
<p>Then: <code>${escaped(next)}</code>${hasCommand ? withoutRights : ''}</p>
<dl>
<dt>File</dt><dd><a href="${escaped(file)}">${escaped(file)}</a>, ${Math.ceil(bytes.length / 1000)} kB</dd>
<dt>SHA-256</dt><dd><code>${sha256}</code></dd>
</dl>`
}

const withoutRights =
  '<br>Where npm may not write to its global folder (EACCES), add <code>--prefix ~/.local</code> and have <code>~/.local/bin</code> on your PATH.'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
