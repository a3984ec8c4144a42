import { expect, it } from 'vitest'
import { countries, countriesPattern } from '#schemas/countries.js'
import { createValidator } from '#schemas/derive/validator.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../support/sample.js'

it('knows the countries of ISO 3166, and says which one a wrong code may mean', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  expect(countries.size).toBe(250)
  expect([...countries].filter((code) => names.of(code) === undefined)).toEqual([])
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const all = letters.flatMap((first) => letters.map((second) => first + second))
  expect(all.filter((code) => new RegExp(countriesPattern).test(code))).toEqual([...countries])
  const validate = createValidator(shop)
  expect(all.filter((region) => 'values' in validate(sampleOf(shop, { region })))).toEqual([...countries])
  expect(validate(sampleOf(shop, { region: 'uk' }))).toMatchObject({
    problems: [
      {
        field: 'region',
        code: 'bad_format',
        message: 'region must be a country of ISO 3166: UK is none; did you mean GB?',
      },
    ],
  })
})
