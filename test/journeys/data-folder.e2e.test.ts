import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { freePortVariables } from '../support/free-port-variables.js'
import { diskOrSkip, openSmallDisk } from '../support/small-disk.js'

const tinyDisk = await openSmallDisk(16)
afterAll(() => ('close' in tinyDisk ? tinyDisk.close() : undefined))

describe('npm start says in one line what to do when its data folder', () => {
  const start = async (dataDir: string) => {
    const { exitCode, stderr } = await execa(process.execPath, ['deploy/embedded/start.mjs'], {
      env: { ...(await freePortVariables()), DATA_DIR: dataDir },
      reject: false,
    })
    expect(exitCode).toBe(1)
    return stderr
  }
  const lineFor = (dataDir: string, why: string) =>
    `The data folder ${dataDir} cannot be used: ${why}. See to that, or set DATA_DIR to another folder.`

  it('is full', async (test) => {
    const { dataDir, fill, free } = diskOrSkip(tinyDisk, test)
    fill()
    try {
      await eventually(async () => expect(await start(dataDir)).toBe(lineFor(dataDir, 'the disk is full')))
    } finally {
      await free()
    }
  })

  it('is read-only', async (test) => {
    const { dataDir, makeReadOnly, makeWritable } = diskOrSkip(tinyDisk, test)
    await makeReadOnly()
    try {
      expect(await start(dataDir)).toBe(lineFor(dataDir, 'the disk is read-only'))
    } finally {
      await makeWritable()
    }
  })

  it('is a file', async () => {
    expect(await start('package.json')).toMatch(/^The data folder .*package.json cannot be used: there is a file/)
  })
})
