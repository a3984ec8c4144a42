import { gzipSync } from 'node:zlib'

export type BatchAnswer = {
  batch: number
  status: number
  data: {
    status: string
    type: string
    message: string
    request_id: string
    batch_id: string
    error: string | null
    waiting?: { index: number; id: string }[]
    waited?: { index: number; id: string; state: string }[]
    errors?: { index: number; id: string | null; problems: { field: string | null; code: string; message: string }[] }[]
  }
}
export type UploadAnswer = { request_id: string; type: string; batches: BatchAnswer[] }
export type Answer<T> = { status: number; headers: Headers; body: T }

/** What an organisation's own program would be: HTTP and a key. */
export const createUploader = (edgeUrl: string, key: string, { answerWithin }: { answerWithin?: number } = {}) => {
  const send = async <T>(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ) => {
    const answer = await fetch(`${edgeUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body as BodyInit }),
      ...(answerWithin === undefined ? {} : { signal: AbortSignal.timeout(answerWithin) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      body: (text ? JSON.parse(text) : null) as T,
    } satisfies Answer<T>
  }
  return {
    send,
    get: <T>(path: string) => send<T>('GET', path),
    upload: (type: string, records: unknown[], headers: Record<string, string> = {}) =>
      send<UploadAnswer>('POST', `/v1/data/${type}`, JSON.stringify({ records }), headers),
    uploadGzipped: (type: string, records: unknown[]) =>
      send<UploadAnswer>('POST', `/v1/data/${type}`, gzipSync(JSON.stringify({ records })), {
        'content-encoding': 'gzip',
      }),
    interact: <T = Record<string, unknown>>(interaction: unknown, headers: Record<string, string> = {}, query = '') =>
      send<T>('POST', `/user-interactions${query}`, JSON.stringify(interaction), headers),
  }
}

export type Uploader = ReturnType<typeof createUploader>
