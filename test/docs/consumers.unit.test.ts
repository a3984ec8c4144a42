import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { consumersOf } from '#schemas/derive/topic-reference/consumers.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'

// The page and the console show the same consumers; test/docs/snippets.deep.test.ts runs the page's, and
// test/journeys/subscriptions.deep.test.ts that in Java.
const page = readFileSync(join(packageRoot, 'docs/for-downstream-teams.md'), 'utf8')
const shops = { topic: 'weir.accepted.shops', event: 'ShopsEvent' }

it('has the consumers that the console shows', () => {
  expect(page).toContain(consumersOf(shops).typescript)
  // Another group, or there would be nothing left for it to read.
  expect(page).toContain(consumersOf({ ...shops, group: 'my-other-team' }).python)
  expect(page).toContain(consumersOf({ ...shops, group: 'my-java-team' }).java)
  const reference = topicReferenceOf(catalogue).find(({ name }) => name === shops.topic)
  expect(reference?.snippets).toEqual(consumersOf(shops))
})

it('says of each topic what its reference says', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `weir.'))
  for (const { name, key, retention } of topicReferenceOf(catalogue)) {
    const isUpload = name.startsWith('weir.accepted.')
    const row = rows.find((line) => line.includes(isUpload ? '`weir.accepted.<type>`' : `\`${name}\``)) ?? ''
    expect(row, `a row about ${name} in the page's table`).not.toBe('')
    expect(row, name).toContain(isUpload ? '`<org_id>/<id>`' : `\`${key}\``)
    expect(row, name).toContain(`| ${retention} |`)
  }
})
