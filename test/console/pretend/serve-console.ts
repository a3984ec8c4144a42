import { fileURLToPath } from 'node:url'
import { build } from 'vite'

export type ServedFile = { contentType: string; body: string | Uint8Array }

const contentTypes: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
}

/** The page as the edge serves it, by its address: put together from the sources, so that no build has to come before. */
export const buildConsole = async (): Promise<ReadonlyMap<string, ServedFile>> => {
  const root = fileURLToPath(new URL('../../../clients/console', import.meta.url))
  const built = await build({ root, logLevel: 'silent', build: { write: false } })
  const outputs = [built].flat().flatMap((each) => ('output' in each ? each.output : []))
  return new Map(
    outputs.flatMap((file): [string, ServedFile][] => {
      const contentType = contentTypes[file.fileName.split('.').at(-1) ?? '']
      const name = file.fileName === 'index.html' ? '' : file.fileName
      return contentType
        ? [[`/console/${name}`, { contentType, body: file.type === 'chunk' ? file.code : file.source }]]
        : []
    }),
  )
}

export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
