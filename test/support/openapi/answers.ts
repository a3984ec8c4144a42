import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OpenApi } from '#schemas/derive/openapi.js'
import type { Schema } from '#schemas/endpoints/values.js'
import type { FuzzedRequest } from './requests.js'

export type FuzzedAnswer = { status: number; contentType: string; retryAfter?: string | undefined; text: string }

/** Tells in what way an answer does not fit the document; undefined where it fits. */
export const createAnswerCheck = (document: OpenApi, { areIdsChecked = true } = {}) => {
  // `format` says how a text should look; of all formats only that of ids is ours to keep in what we answer.
  const ajv = new Ajv2020({
    strict: false,
    formats: { uuid: areIdsChecked ? uuidPattern : true, 'date-time': true, date: true, double: true },
  })
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ValidateFunction>()
  const validatorAt = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
    compiled.set(pointer, known)
    return known
  }

  /** Where the document describes what an operation answers with a status. */
  const pointerTo = (template: string, method: string, status: number): string | undefined => {
    const operation = document.paths[template]?.[method] as { responses: Record<string, Schema> } | undefined
    // A method that is not there, and whether the caller may know that.
    if (!operation) return [401, 405, 431].includes(status) ? `/components/responses/${status}` : undefined
    const response = operation.responses[status]
    if (!response) return undefined
    return typeof response.$ref === 'string'
      ? response.$ref.slice(1)
      : `/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}/responses/${status}`
  }

  const checkBody = (pointer: string, { contentType, text }: FuzzedAnswer): string | undefined => {
    const all = Object.entries((at(document, pointer) as { content: Schema }).content)
    const [mediaType, described] = all.find(([each]) => contentType.startsWith(each)) ?? []
    if (!mediaType) return `${contentType} instead of ${all.map(([each]) => each).join(' or ')}`
    const { schema } = described as { schema: Schema }
    const schemaAt = `${pointer}/content/${mediaType.replace('/', '~1')}/schema`
    const faultOf = (validate: ValidateFunction, json: string) =>
      validate(JSON.parse(json)) ? undefined : ajv.errorsText(validate.errors)
    if (mediaType === 'application/json') return faultOf(validatorAt(schemaAt), text)
    if (mediaType !== 'application/x-ndjson' || !schema.contentSchema) return undefined
    const ofLine = validatorAt(`${schemaAt}/contentSchema`)
    return text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [faultOf(ofLine, line)]))
      .find(Boolean)
  }

  /** In what way the answer of a declared operation is not as declared, whatever its status. */
  const checkDeclared = (method: string, url: string, answer: FuzzedAnswer): string | undefined => {
    const template = templateOf(document, url)
    if (template === undefined || !document.paths[template]?.[method.toLowerCase()]) return undefined
    const pointer = pointerTo(template, method.toLowerCase(), answer.status)
    return pointer === undefined
      ? `${answer.status} is not declared for ${method} ${template}`
      : checkBody(pointer, answer)
  }

  const check = (request: FuzzedRequest, answer: FuzzedAnswer): string | undefined => {
    const { status, text } = answer
    const template = request.template ?? templateOf(document, request.url)
    // /readyz alone may say 503: it speaks of the other parts, which a busy machine keeps waiting now and then.
    if (status >= 500 && template !== '/readyz') return 'a 5xx'
    // HEAD is answered like GET, without a body.
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase()
    const nowhere = [400, 404, 414, 431].includes(status) ? `/components/responses/${status}` : undefined
    const pointer = template === undefined ? nowhere : pointerTo(template, method, status)
    if (pointer === undefined) return `${status} is not documented for ${method} ${template ?? 'an unknown address'}`
    if (request.method === 'HEAD') return text === '' ? undefined : 'a body in an answer to HEAD'

    return checkBody(pointer, answer)
  }

  return { check, checkDeclared }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const templateOf = (document: OpenApi, url: string): string | undefined => {
  const path = url.split(/[?#]/)[0] ?? ''
  // Where several fit, the one with fewer places for anything: /v1/rejections/summary before /v1/rejections/{id}.
  return Object.keys(document.paths)
    .filter((template) => new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

const at = (document: unknown, pointer: string): unknown =>
  pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, part) => (value as Record<string, unknown>)[part], document)
