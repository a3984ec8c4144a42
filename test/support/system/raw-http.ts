import { connect } from 'node:net'

/** Sends bytes as they are, and hears all that comes back until the other side hangs up. */
export const sayTo = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    let heard = ''
    const socket = connect(Number(port), hostname, () => text && socket.write(text))
    socket.on('data', (data) => {
      heard += data
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') reject(error)
    })
    socket.on('close', () => resolve(heard))
  })

/** The statuses of the answers in what was heard. */
export const statusesIn = (heard: string): number[] =>
  [...heard.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
