import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { pages } from './snippets.js'

const root = `${import.meta.dirname}/../..`

// A shell reads <key_id> as a file to read from: a line is pasted as it stands, so a value is a variable that was set before.
it.each(pages)('%s has no placeholder in a line for the shell', (name) => {
  const blocks = readFileSync(`${root}/${name}`, 'utf8').matchAll(/^```sh\n(.*?)^```/gms)
  const lines = [...blocks].flatMap(([, block = '']) => block.split('\n'))
  expect(lines.filter((line) => /<[a-z][a-z_ -]*>/i.test(line))).toEqual([])
})
