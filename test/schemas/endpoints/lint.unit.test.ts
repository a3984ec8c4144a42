import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { itDeep } from '../../support/it-deep.js'

// What tools that read the document expect of it, by the rules that two of them recommend.

const text = JSON.stringify(openapiOf(catalogue), null, 2)

itDeep('breaks no rule of Spectral', { timeout: 120_000 }, async () => {
  const { default: spectral } = await import('@stoplight/spectral-core')
  const { default: parsers } = await import('@stoplight/spectral-parsers')
  const { default: rulesets } = await import('@stoplight/spectral-rulesets')
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [rulesets.oas as never] })
  const found = await linter.run(new spectral.Document(text, parsers.Json))
  expect(found.map(({ code, path, message }) => `${code} at ${path.join('/')}: ${message}`)).toEqual([])
})

it('breaks no rule of Redocly', { timeout: 120_000 }, async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const document = makeDocumentFromString(text, 'openapi.json')
  const found = await lintDocument({ document, config, externalRefResolver: new BaseResolver() })
  expect(found.map(({ ruleId, location, message }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)).toEqual([])
})
