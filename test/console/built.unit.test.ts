import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { buildConsole } from './pretend/serve-console.js'

const files = await buildConsole()

const sizeOf = (isMeant: (path: string) => boolean): number =>
  [...files].reduce((total, [path, { body }]) => total + (isMeant(path) ? gzipSync(body).length : 0), 0)
const isOfSql = (path: string): boolean => path.startsWith('/console/files/sql-')

it('is less than 120 kB gzipped, with all of its pages and the SDK, in a few files; the SQL page with its editor comes apart', () => {
  const sum = sizeOf((path) => !isOfSql(path))
  expect(sum).toBeGreaterThan(50_000)
  expect(sum).toBeLessThan(120_000)
  expect(sizeOf(isOfSql)).toBeLessThan(200_000)
  const named = [...files.keys()].map((path) => path.replace(/-[\w-]{8}\./, '-*.')).sort()
  expect(named).toEqual([
    '/console/',
    '/console/files/file-worker-*.js',
    '/console/files/index-*.css',
    '/console/files/index-*.js',
    '/console/files/mark-*.svg',
    '/console/files/sql-*.js',
    '/console/licences.txt',
  ])
})

it('has no style and no script within the page, which its content security policy would not run', () => {
  const page = String(files.get('/console/')?.body)
  expect(page).toContain('<script type="module" crossorigin src=')
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=/)
})

it('comes with the licences of what is in it', () => {
  const licences = String(files.get('/console/licences.txt')?.body)
  for (const name of ['preact', 'htm', 'uplot', '@codemirror/view']) expect(licences).toContain(`## ${name}`)
  expect(licences).toContain('Permission is hereby granted')
})
