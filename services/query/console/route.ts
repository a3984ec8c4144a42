import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestError, sendError } from '#http/request-error.js'
import { addResource, notFound } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Page, Pages } from './pages.js'

/** /console/, which needs no key: it is nothing but programs, and asks with the key that its user pastes. `/` leads there. */
export const addConsole = (
  app: FastifyInstance,
  { pages, catalogue }: { pages: Pages; catalogue: Catalogue },
): void => {
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': path = '' } = request.params as { '*'?: string }
    const page = pages.get(path === '' ? 'index.html' : path)
    if (page) return sendPage(request, reply, page, path.startsWith(neverChange))
    if (pages.size === 0) return sendError(reply, notBuilt)
    return sendError(reply, requestError(404, 'the console has no such file; it is at /console/'))
  }
  // With the slash, so that the page's relative imports lie below /console/ too.
  addResource(app, '/console', { GET: { handler: async (_request, reply) => reply.redirect('/console/', 308) } })
  addResource(app, '/console/*', { GET: { handler: serve } })
  app.get('/', async (request, reply) => {
    reply.header('vary', varyBy(reply, 'Accept'))
    return takesPages(request) ? reply.redirect('/console/', 302) : sendError(reply, notFound('/', catalogue))
  })
}

// What is in these files is part of their names.
const neverChange = 'files/'

const sendPage = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, zipped }: Page,
  isForGood: boolean,
) => {
  reply.headers({
    // The page is asked for again each time, and answered 304: after an upgrade it names other files, and no old one runs.
    'cache-control': isForGood ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': policy,
    vary: varyBy(reply, 'Accept-Encoding'),
    etag,
  })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  reply.type(type)
  const packed = takesGzip(request.headers['accept-encoding']) ? await zipped() : undefined
  return packed ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(plain)
}

// Nothing from elsewhere, and no text of the page is ever run: what stands in a record stays a text.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // Files are read beside the page, so that it can be used meanwhile.
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Whether the client takes a page, or says that anything will do, as curl does. */
const takesPages = ({ headers }: FastifyRequest): boolean => /\btext\/html\b|\*\/\*/i.test(headers.accept ?? '')

/** Beside what the answer depends on already, such as the origin. */
const varyBy = (reply: FastifyReply, name: string): string => [reply.getHeader('vary'), name].filter(Boolean).join(', ')

/** Whether a client that shows these tags (If-None-Match) has what this one names. */
export const isKnown = (shown = '', etag: string): boolean =>
  shown.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))

const takesGzip = (accepted: string | string[] | undefined): boolean =>
  [accepted ?? '']
    .flat()
    .join(',')
    .split(',')
    .some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one))

const notBuilt = requestError(404, 'this edge was built without the console; to build it: npm run build')
