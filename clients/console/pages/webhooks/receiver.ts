import type { VNode } from 'preact'
import { html } from '../../components/html.js'
import { Card, Snippets } from '../../components/shown.js'

/** What a program needs to take deliveries: the few lines that check whether one comes from here. */
export const ReceiverToCopy = (): VNode => html`
  <${Card} title="A receiver to copy">
    <${Snippets} label="A receiver of webhooks" texts=${receivers} />
    <p class="soft small">The secret stands in the variable <code>WEBHOOK_SECRET</code>; <code>weir-client</code> is at <a href="/downloads/">downloads</a>. Deliveries are signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> says, which has libraries for other languages. Answer with 200 to 299 within 15 s, and work afterwards: anything else is tried again, for three days.</p>
  <//>`

const receivers = {
  typescript: `import { createServer } from 'node:http'
import { verifyWebhook } from 'weir-client'

const secret = process.env.WEBHOOK_SECRET ?? ''
createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  try {
    const { type, data } = await verifyWebhook(secret, request.headers, body)
    response.writeHead(204).end()
    console.log(type, data)
  } catch {
    response.writeHead(400).end()
  }
}).listen(9300)`,
  python: `import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from weir_client import WeirError, verify_webhook

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            message = verify_webhook(os.environ["WEBHOOK_SECRET"], self.headers, body)
        except WeirError:
            return self.send_error(400)
        self.send_response(204)
        self.end_headers()
        print(message["type"], message["data"])

HTTPServer(("", 9300), Receiver).serve_forever()`,
}
