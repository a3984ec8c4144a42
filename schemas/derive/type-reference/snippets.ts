import type { RecordType } from '../../record.js'
import { exampleOf } from '../openapi/record-schema.js'

/** The same record sent in several ways, to copy. The key is never in the text: it stands in a variable. */
export type Snippets = { curl: string; typescript: string; python: string; csv: string }

export const snippetsOf = (type: RecordType, url: string): Snippets => {
  const example = exampleOf(type)
  const address = `${url}/v1/data/${type.type}`
  const body = JSON.stringify({ records: [example] }, null, 2)
  const record = JSON.stringify(example, null, 2)
  return {
    curl: `curl -s ${address} \\
  -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", "'\\''")}'`,
    typescript: `import { createWeir } from 'weir-client'

const weir = createWeir({ url: '${url}', key: process.env.WEIR_KEY ?? '' })
console.log(await weir.of('${type.type}').upload([${record}]))`,
    // JSON is read from a text: its true, false and null are not Python's.
    python: `import json, os, urllib.request

body = json.loads('''${body.replaceAll('\\', '\\\\')}''')
request = urllib.request.Request(
    "${address}",
    data=json.dumps(body).encode(),
    headers={"Authorization": f"Bearer {os.environ['WEIR_KEY']}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`,
    csv: csvOf(example),
  }
}

/** A record as CSV, under its header. */
export const csvOf = (example: Record<string, unknown>): string => {
  const lines = [Object.keys(example), Object.values(example).map((value) => cell(String(value)))]
  return `${lines.map((line) => line.join(',')).join('\n')}\n`
}

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
