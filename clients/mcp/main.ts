// What an assistant starts: reads questions from standard input, asks Weir's HTTP interface, and writes answers to standard output. It
// needs an address and a key, and none of the parts behind them.
import { readFileSync } from 'node:fs'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer, type McpOptions } from './server.js'

const help = `weir mcp: lets an assistant read one organisation's data, over the Model Context Protocol (docs/for-assistants.md).

An assistant starts it itself, and talks to it by standard input and output. It is set by variables:
  WEIR_URL               the address of Weir, such as https://weir.example.com
  WEIR_KEY               an API key of the organisation; with the scopes for what it may read
  WEIR_ANALYST_PASSWORD  the password of an analyst of the organisation, for queries in SQL; without it there are none
In a clone, beside npm start, it needs neither of the first two.
`

const readOptions = (env: NodeJS.ProcessEnv): McpOptions | string => {
  const local = env.WEIR_LOCAL_URL || undefined
  const url = (env.WEIR_URL || local)?.replace(/\/+$/, '')
  if (url === undefined) return 'no server is named: set WEIR_URL=https://… and WEIR_KEY=…'
  if (!/^https?:\/\/[^/\s]/.test(url))
    return `WEIR_URL=${url} is no address of a server: it begins with https:// or http://`
  const isLocal = url === local && env.WEIR_LOCAL_KEY_FILE
  const key = env.WEIR_KEY || (isLocal ? readFileSync(isLocal, 'utf8').trim() : undefined)
  if (key === undefined) return `no key for ${url}: set WEIR_KEY=…`
  return { url, key, password: env.WEIR_ANALYST_PASSWORD || undefined }
}

if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(help)
else {
  const options = readOptions(process.env)
  if (typeof options === 'string') {
    process.stderr.write(`weir: ${options}\n`)
    process.exitCode = 2
  } else await createMcpServer(options).connect(new StdioServerTransport())
}
