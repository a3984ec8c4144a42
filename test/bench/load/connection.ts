import { connect } from 'node:net'

// One kept-open HTTP connection, one request at a time. fetch and node:http cost the load generator 60 to 100 µs a request, on
// the same cores as what is measured; this costs about a fifth of that. It knows only what Weir and the floors answer: a status
// and a body with a Content-Length.

export type HttpAnswer = { status: number; body: Buffer }
export type HttpConnection = {
  /** Sends a request whose head and body are ready, and waits for its answer. */
  send: (head: Buffer, body: Buffer) => Promise<HttpAnswer>
  close: () => void
}

export const openConnection = (url: string): Promise<HttpConnection> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const reader = createAnswerReader()
    let waiting: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | undefined
    const fail = (error: Error) => {
      waiting?.reject(error)
      waiting = undefined
      reject(error)
    }
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () =>
      resolve({
        send: (head, body) =>
          new Promise((answered, failed) => {
            waiting = { resolve: answered, reject: failed }
            socket.cork()
            socket.write(head)
            socket.write(body)
            socket.uncork()
          }),
        close: () => socket.destroy(),
      }),
    )
    socket.on('error', fail)
    socket.on('close', () => fail(new Error(`${url} closed a connection on which an answer was due`)))
    socket.on('data', (chunk) => {
      try {
        const answer = reader(chunk)
        if (!answer) return
        const { resolve: done } = waiting ?? {}
        waiting = undefined
        done?.(answer)
      } catch (error) {
        fail(error as Error)
        socket.destroy()
      }
    })
  })

/** Takes pieces as they arrive; gives the answer with the piece that completes it. */
export const createAnswerReader = (): ((piece: Buffer) => HttpAnswer | undefined) => {
  let pieces: Buffer[] = []
  let length = 0
  let head: { status: number; bodyAt: number; end: number } | undefined
  return (piece) => {
    pieces.push(piece)
    length += piece.length
    if (!head) {
      if (pieces.length > 1) pieces = [Buffer.concat(pieces)]
      head = readHead(pieces[0] as Buffer)
    }
    if (!head || length < head.end) return undefined
    const all = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
    const answer = { status: head.status, body: all.subarray(head.bodyAt, head.end) }
    if (length > head.end) throw new Error('an answer is longer than it says')
    pieces = []
    length = 0
    head = undefined
    return answer
  }
}

const readHead = (bytes: Buffer): { status: number; bodyAt: number; end: number } | undefined => {
  const at = bytes.indexOf('\r\n\r\n')
  if (at < 0) return undefined
  const text = bytes.toString('latin1', 0, at)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
  const size = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1])
  if (!(status > 0 && size >= 0))
    throw new Error(`an answer without a status or a Content-Length: ${text.slice(0, 200)}`)
  return { status, bodyAt: at + 4, end: at + 4 + size }
}
