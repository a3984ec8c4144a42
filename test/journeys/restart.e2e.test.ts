import { expect, it } from 'vitest'
import { branch } from '#schemas/records/branch.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { analyst, newOrganisation, type Organisation, restartSystem, system } from '../support/system/system.js'

it('answers what it has begun when it is stopped under load, and finds everything again: keys, entities, answers, rows', async () => {
  const org = await newOrganisation('restart')
  const busy = await newOrganisation('restart-busy')
  const shopsOf = async ({ name }: Organisation) => {
    const query = 'select toString(shop_id) as id from weir.shops where org_id = {org:String} order by id'
    return (await analyst.query<{ id: string }>(query, { org: name })).map(({ id }) => id)
  }
  const records = Array.from({ length: 100 }, () => sampleOf(shop, { is_deleted: false }))
  const ids = records.map(({ shop_id }) => String(shop_id)).sort()
  const { body, status } = await org.uploader.upload('shops', records)
  expect(status).toBe(200)
  await eventually(async () => expect(await shopsOf(org)).toEqual(ids))
  const clients = Array.from({ length: 4 }, () => keepUploading(busy.uploader))
  await eventually(() => {
    for (const { acknowledged } of clients) expect(acknowledged.length).toBeGreaterThan(0)
  })
  const { demoKey, launcherPid } = system

  await restartSystem()
  await Promise.all(clients.map(({ stop }) => stop()))
  expect(system.launcherPid).not.toBe(launcherPid)
  expect(system.demoKey).toBe(demoKey)
  expect(await shopsOf(org)).toEqual(ids)
  expect((await org.uploader.get(`/v1/requests/${body.request_id}`)).body).toEqual(body)
  expect((await org.uploader.upload('branches', [sampleOf(branch, { shop_id: ids[0] })])).status).toBe(200)
  expect((await org.uploader.upload('shops', [{ ...records[0], name: 'changed' }])).status).toBe(200)

  // Connections are refused while nothing runs, and the edge that starts says that it waits; no outcome is unknown.
  const failures = clients.flatMap((client) => client.failures)
  expect(failures.filter(({ status }) => status !== 'cut off' && status !== 503)).toEqual([])
  const acknowledged = clients.flatMap((client) => client.acknowledged).sort()
  await eventually(async () => expect(await shopsOf(busy)).toEqual(acknowledged))
})
