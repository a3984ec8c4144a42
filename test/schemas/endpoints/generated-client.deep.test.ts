import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'

// People who do not use our SDKs have a client generated. Maven fetches the generator once; then this takes half a minute.
const generator = 'org.openapitools:openapi-generator-cli:7.14.0'
const folder = mkdtempSync(join(tmpdir(), 'weir-generated-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('is a document from which a client is generated that compiles', { timeout: 600_000 }, async () => {
  const document = join(folder, 'openapi.json')
  writeFileSync(document, JSON.stringify(openapiOf(catalogue, { url: 'http://127.0.0.1:8080' })))
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
  await execa('mvn', ['-q', '-B', plugin, `-Dartifact=${generator}`, `-DoutputDirectory=${folder}`], { cwd: folder })
  const jar = readdirSync(folder).find((name) => name.endsWith('.jar')) ?? ''
  const client = join(folder, 'client')
  await execa('java', ['-jar', join(folder, jar), 'generate', '-g', 'typescript-fetch', '-i', document, '-o', client])
  const tsc = new URL('../../../node_modules/.bin/tsc', import.meta.url).pathname
  const options =
    '--noEmit --ignoreConfig --target es2022 --module esnext --moduleResolution bundler --lib es2022,dom,dom.iterable'
  const { exitCode, stdout } = await execa(tsc, [...options.split(' '), join(client, 'index.ts')], { reject: false })
  expect([exitCode, stdout]).toEqual([0, ''])
})
