import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  backupOptions,
  calledAs,
  operatorOptions,
  takenByNpm,
} from '../../../../deploy/embedded/launcher/operator-call.js'

const byNpm = (options: Record<string, string> = {}) => ({
  npm_lifecycle_event: 'weir',
  npm_config_yes: '',
  ...options,
})

describe('an option that npm took for itself', () => {
  const take = (options: Record<string, string>, ...words: string[]) => takenByNpm(byNpm(options), words)

  it('is named, with the line that would have worked', () => {
    expect(take({ npm_config_dry_run: 'true' }, 'prune')).toBe(
      'npm took --dry-run for itself: write two dashes before the command: npm run -s weir -- prune --dry-run',
    )
    expect(take({ npm_config_json: 'true', npm_config_org: 'acme' }, 'keys', 'list')).toMatch(
      /: npm run -s weir -- keys list --json --org=acme$/,
    )
  })

  it('is named without that line where npm has torn it from its value', () => {
    expect(take({ npm_config_org: 'true' }, 'keys', 'list', 'acme')).toBe(
      'npm took --org for itself: write two dashes before the command: npm run -s weir -- keys …',
    )
  })

  it('is none where npm took none, and where npm did not start the command', () => {
    expect(take({}, 'keys', 'list', '--json')).toBeUndefined()
    expect(takenByNpm({ npm_config_json: 'true' }, ['keys', 'list'])).toBeUndefined()
  })
})

it.each([
  { folder: 'services/operator', known: operatorOptions, atLeast: 20 },
  { folder: 'deploy/embedded/backup', known: backupOptions, atLeast: 2 },
])('knows the options of all commands of $folder', ({ folder, known, atLeast }) => {
  const path = `${import.meta.dirname}/../../../../${folder}`
  const sources = (readdirSync(path, { recursive: true }) as string[]).filter((name) => name.endsWith('.ts'))
  const text = sources.map((name) => readFileSync(`${path}/${name}`, 'utf8')).join('\n')
  const declared = [...text.matchAll(/\b(?:option|requiredOption)\(\s*'--([a-z-]+)( <)?/g)]
  expect(declared.length).toBeGreaterThan(atLeast)
  expect(known).toEqual(Object.fromEntries(declared.map(([, name, value]) => [name, value !== undefined])))
})

it.each([
  ['npm run', byNpm(), '/clone/deploy/embedded/weir.mjs', 'npm run -s weir --'],
  ['node', {}, '/clone/deploy/embedded/weir.mjs', 'npm run -s weir --'],
  ['npm link', {}, '/usr/local/bin/weir', 'weir'],
  ['npx', { npm_lifecycle_event: 'npx' }, '/clone/node_modules/.bin/weir', 'npx weir'],
])('after %s, a command is written as it was called', (_, env, program, written) =>
  expect(calledAs(env, program)).toBe(written),
)
