import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Writes clients/console/vendor anew from the packages in node_modules: npx tsx deploy/vendor-console.ts

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = 'clients/console/vendor'
const textOf = (path: string): string => readFileSync(`${root}node_modules/${path}`, 'utf8')
const withoutMap = (text: string): string => text.replace(/\/\/# sourceMappingURL=.*\s*$/, '')

/** The console's libraries as a browser can load them: each a module of its own, importing others by their relative path. */
export const vendoredFiles = (): Map<string, string> =>
  new Map([
    [`${folder}/preact.js`, withoutMap(textOf('preact/dist/preact.mjs'))],
    // A browser does not know what "preact" is. An import map could tell it, but only as an inline script, which the CSP forbids.
    [
      `${folder}/hooks.js`,
      withoutMap(textOf('preact/hooks/dist/hooks.mjs')).replace('from"preact"', 'from"./preact.js"'),
    ],
    [`${folder}/htm.js`, textOf('htm/dist/htm.module.js')],
    // The only minified file that uPlot has is a script; this makes it a module. As a module it has 145 kB instead of 51.
    [`${folder}/uplot.js`, `${textOf('uplot/dist/uPlot.iife.min.js').trimEnd()}\nexport default uPlot;\n`],
    [`${folder}/uplot.css`, textOf('uplot/dist/uPlot.min.css')],
    [
      `${folder}/licences.txt`,
      ['preact', 'htm', 'uplot'].map((name) => `${name}\n\n${textOf(`${name}/LICENSE`).trim()}\n`).join('\n\n'),
    ],
  ])

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(root + folder, { recursive: true })
  for (const [file, text] of vendoredFiles()) writeFileSync(root + file, text)
}
