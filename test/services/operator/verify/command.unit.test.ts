import { expect, it } from 'vitest'
import { readRange } from '../../../../services/operator/verify/command.js'

const now = Date.UTC(2026, 0, 31, 12)
const hour = 3_600_000

it.each([
  [{ since: '24h' }, { since: now - 24 * hour, until: undefined }],
  [{ since: '2026-01-30' }, { since: Date.UTC(2026, 0, 30), until: undefined }],
  [
    { since: '2h', until: '2026-01-31T11:30:00+01:00' },
    { since: now - 2 * hour, until: Date.UTC(2026, 0, 31, 10, 30) },
  ],
])('%j is read', (given, range) => expect(readRange(given, now)).toEqual(range))

it.each([
  [{ since: 'yesterday' }, '--since "yesterday" is not a moment'],
  [{ since: '24x' }, 'is not a duration'],
  [{ since: '2026-02-30' }, 'is not a moment'],
  [{ since: '1h', until: '2h' }, '--until 2h is not after --since 1h'],
])('%j is refused', (given, problem) => expect(() => readRange(given, now)).toThrow(problem))
