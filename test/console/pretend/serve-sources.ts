import { readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const clients = fileURLToPath(new URL('../../../clients', import.meta.url))

export type ServedFile = { contentType: string; body: string }

const contentTypes: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
}

/** The page as the edge serves it, compiled from the sources file by file: no build has to come before. */
export const serveSources = (path: string): ServedFile | undefined => {
  const file =
    path === '/console/'
      ? 'console/index.html'
      : /^\/console\/files\/((?:console|typescript\/src)\/.+)$/.exec(path)?.[1]
  const contentType = contentTypes[file?.split('.').at(-1) ?? '']
  if (!file || !contentType || normalize(file) !== file) return undefined
  const text = read(join(clients, file))
  if (text !== undefined) return { contentType, body: text }
  const source = read(join(clients, file.replace(/\.js$/, '.ts')))
  if (source === undefined) return undefined
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    // As tsconfig.build.json has it.
    removeComments: true,
  }
  const body = compiled.get(source) ?? ts.transpileModule(source, { compilerOptions }).outputText
  compiled.set(source, body)
  return { contentType, body }
}

const compiled = new Map<string, string>()

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
