import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { modelPicture } from '#schemas/derive/for-analysts/model-picture.js'
import { martsPage } from '#schemas/derive/marts-page.js'
import { clientFiles, publishedFiles } from '#schemas/derive/published.js'

it('has committed what the catalogue derives; if not: npm run publish-schemas', () => {
  const folder = new URL('../../schemas/published/', import.meta.url)
  const committed = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
  )
  const derived = Object.fromEntries(publishedFiles(catalogue))
  // The one file that needs a Postgres to be derived: test/services/ledger/describe-schema.int.test.ts compares it.
  expect(Object.keys(committed).sort()).toEqual([...Object.keys(derived), 'postgres.sql'].sort())
  for (const [name, text] of Object.entries(derived)) expect(committed[name], name).toBe(text)
})

it('has committed what the clients take from the catalogue; if not: npm run publish-schemas', () => {
  for (const [path, text] of clientFiles(catalogue))
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), path).toBe(text)
})

it('has committed the page about the marts, and the picture of the model; if not: npm run publish-schemas', () => {
  const inDocs = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  expect(inDocs('marts.md')).toBe(martsPage())
  expect(inDocs('model.svg')).toBe(modelPicture(catalogue))
})
