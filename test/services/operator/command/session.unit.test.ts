import { expect, it } from 'vitest'
import { examples, toPasted } from '../../../../services/operator/command/session.js'

it('writes commands as they can be pasted, in hints and in examples', () => {
  const hint = 'weir: there is no key k: "weir keys list" shows those there are'
  expect(toPasted(hint, 'npm run -s weir --')).toBe(
    'weir: there is no key k: "npm run -s weir -- keys list" shows those there are',
  )
  expect(toPasted(hint, 'weir')).toBe(hint)
  expect(toPasted(examples('keys list', 'prune'), 'npx weir')).toBe(
    '\nExamples:\n  $ npx weir keys list\n  $ npx weir prune',
  )
})
