import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { isLeftOut, leftOut } from './left-out.js'
import { blocksOf, errorsIn, languages, pages, showsIn, snippetsOf } from './snippets.js'

describe.each(pages)('%s', (page) => {
  const blocks = blocksOf(readFileSync(join(packageRoot, page), 'utf8'))

  it('has snippets only in languages that a test can run', () => {
    const strange = blocks.filter(({ language }) => language !== '' && !languages[language])
    const rule = `use ${Object.keys(languages).join(', ')}, or none for a picture; or teach test/docs/terminal.ts`
    expect(strange.map(({ line, language }) => `${page}:${line} is in ${language}: ${rule}`)).toEqual([])
  })

  it('has no command in a picture, where no test would run it', () => {
    const hidden = blocks.filter(({ language, text }) => language === '' && /^\$ /m.test(text))
    expect(hidden.map(({ line }) => `${page}:${line} has a command after "$ ": give it a block of its own`)).toEqual([])
  })

  it('shows what is printed by a snippet that ends by Ctrl-C, since that is what the test waits for', () => {
    const endless = snippetsOf(page).filter(({ text }) => text.includes('Ctrl-C'))
    expect(endless.filter(({ prints }) => !prints).map(({ line }) => `${page}:${line}`)).toEqual([])
  })

  it('names scripts and tests that exist in the snippets that are not run', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
    const text = snippetsOf(page)
      .filter(isLeftOut)
      .map((each) => each.text)
      .join('')
    const named = [...text.matchAll(/\bnpm (?:run (?:-s )?)?(start|test|(?<=run (?:-s )?)[a-z][a-z-]*)/g)].map(
      ([, script = '']) => script,
    )
    expect(named.filter((script) => !scripts[script])).toEqual([])
    const paths = [...text.matchAll(/\bnpm test -- (\S+)/g)].map(([, path = '']) => path)
    expect(
      paths.filter(
        (path) => !['', '.e2e.test.ts', '.deep.test.ts'].some((end) => existsSync(join(packageRoot, path + end))),
      ),
    ).toEqual([])
  })
})

it.each(leftOut)('$page still has the snippet that begins with "$begins" and is not run', ({ page, begins = '' }) => {
  const found = snippetsOf(page).filter(({ text }) => text.startsWith(begins))
  if (begins) expect(found).toHaveLength(1)
  else expect(found).not.toEqual([])
})

it('finds the snippets of a page, where they stand, and what they print', () => {
  const markdown =
    '# A page\n\n```\na picture\n```\n```sh\nls\n```\nprints\n```text\nREADME.md\n```\n```python\nprint(1)\n```\n'
  expect(snippetsOf('a.md', markdown)).toEqual([
    { page: 'a.md', line: 7, language: 'sh', text: 'ls\n', prints: 'README.md\n' },
    { page: 'a.md', line: 14, language: 'python', text: 'print(1)\n' },
  ])
})

it('compares what is shown with what was printed: in order, with anything at a …, whatever the line breaks', () => {
  expect(showsIn('{"id":"…","status":200…}\n…\nthe end', '{"id":"1",\n"status":200,"more":1}\n\nand the   end')).toBe(
    false,
  )
  expect(showsIn('{"id":"…","status":200…}\n…\nthe end', '{"id":"1","status":200,"more":1}\n\nand the   end')).toBe(
    true,
  )
  expect(showsIn('two … one', 'one two')).toBe(false)
})

it('finds errors that a command printed, unless the page shows them', () => {
  const refused = '{"data":{"error":"1 of 2 records refused"}}'
  expect(errorsIn(refused)).toEqual(['"error":"1 of 2 records refused"'])
  expect(errorsIn(refused, `{…"error":"1 of 2 records refused"…}`)).toEqual([])
  expect(errorsIn('{"error":null}')).toEqual([])
  expect(errorsIn('Code: 62. DB::Exception: Syntax error')).toEqual(['DB::Exception'])
  expect(errorsIn("TypeError: Cannot read properties of undefined (reading 'key_id')")).toHaveLength(1)
})
