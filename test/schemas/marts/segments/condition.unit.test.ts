import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  conditionColumns,
  conditionFunctions,
  longestCondition,
  readCondition,
} from '#schemas/marts/segments/condition.js'

describe('a condition', () => {
  it.each([
    ["amount > 100 and region = 'GB'", "amount > 100 and region = 'GB'"],
    ["region in('GB','IE')or not(r>=4)", "region in ( 'GB' , 'IE' ) or not ( r >= 4 )"],
    ["has(tags, 'it''s') AND age_band IS NOT NULL", "has ( tags , 'it''s' ) AND age_band IS NOT NULL"],
    ['last_bought_at < now() - interval 30 day', 'last_bought_at < now ( ) - interval 30 day'],
    [
      "hasAny(keywords, ['a', 'b']) and amount between 1.5 and 2",
      "hasAny ( keywords , [ 'a' , 'b' ] ) and amount between 1.5 and 2",
    ],
    ["institute ilike '%art--s /* %'", "institute ilike '%art--s /* %'"],
  ])('may be %s', (given, condition) => {
    expect(readCondition(given)).toEqual({ condition })
  })

  it('may use every column and every function', () => {
    for (const column of Object.keys(conditionColumns))
      expect(readCondition(`${column} is null`)).toHaveProperty('condition')
    for (const called of conditionFunctions) expect(readCondition(`${called}(1) = 1`)).toHaveProperty('condition')
    expect(Object.keys(conditionColumns)).toEqual(expect.arrayContaining(['amount', 'segment', 'r', 'tags']))
  })

  it.each([
    ['', 'is missing'],
    ["1) or (org_id = 'other'", 'org_id'],
    ['r = 1) or (r = 2', 'has no beginning'],
    ['(r = 1', 'has no end'],
    ['[r)', 'has no beginning'],
    ["org_id = 'other'", 'org_id'],
    ['customer_id in (select customer_id from customers)', 'in takes values'],
    ['customer_id in customers', 'in takes values'],
    ['region in (region)', 'in takes values'],
    ['region IN tags', 'in takes values'],
    ['exists (select 1)', 'exists'],
    ['(select count() from shops) > 0', 'select'],
    ["url('http://localhost/') = ''", 'url'],
    ["file('/etc/passwd') = ''", 'file'],
    ["dictGet('d', 'a', 1) = 1", 'dictGet'],
    ['sleep(3) = 0', 'sleep'],
    ['r = 1 -- r', '-- r'],
    ['r = 1 /* r */', '/* r'],
    ['r = 1; drop table weir.shops', ';'],
    ["region = 'GB\\' or 1=1 --'", "'GB"],
    ['r = {p:UInt8}', '{'],
    ['r = 1 settings max_threads = 1', 'settings'],
    ['r = 1 union all', 'union'],
    ['weir.shops', '.shops'],
    ['`r` = 1', '`'],
    ['"r" = 1', '"'],
    ['r = 1 # r', '#'],
    ['r = 0x10', '0x10'],
    ['r = 1e5', '1e5'],
    ['amuont > 5', 'did you mean amount?'],
    ['has', 'has'],
    ['amount(1)', 'amount'],
    ['constructor = 1', 'constructor'],
    [`region = '${'x'.repeat(longestCondition)}'`, `${longestCondition} characters`],
  ])('may not be %s', (given, problem) => {
    const read = readCondition(given)
    expect(read).toMatchObject({ problem: expect.stringContaining(problem) })
  })

  it('has nothing but its own words and signs left, whatever is given', () => {
    const words = fc.constantFrom(
      ...[
        "'",
        '--',
        '/*',
        '*/',
        '(',
        ')',
        '[',
        ']',
        'in',
        'r',
        'amount',
        'org_id',
        'select',
        '1',
        "'a'",
        ',',
        '=',
        ';',
        '\\',
        '.',
        ' ',
        'has',
      ],
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        const read = readCondition(parts.join(''))
        if ('problem' in read) return
        const outside = read.condition.replace(/'(?:[^']|'')*'/g, '0')
        expect(outside).not.toMatch(/--|\/\*|[;\\.'{}`"#]|\b(?:select|org_id)\b/)
        expect(outside.split('(').length).toBe(outside.split(')').length)
        expect(readCondition(read.condition)).toEqual(read)
      }),
    )
  })
})
