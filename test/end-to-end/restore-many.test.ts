/** Removed documents brought back through the management API: all or none, with a list of those that cannot be, or as a job. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { search } from '../../src/shared/query.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let goods = ''
let ann = ''
const path = '/_system/storages/goods/documents'
/** Guids of the goods by n: 1 to 4 are removed, 5 is present. */
let guids: readonly string[] = []

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.addUser('remover', ['storages_remove'])
  ann = await quoin.addUser('ann', ['storages_update', 'storages_view'])
  await quoin.manage('POST', '/_system/storages', { name: 'suppliers' })
  goods = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'goods', history: true }))
  for (const field of [
    { name: 'code', type: 'string', unique: true },
    { name: 'supplier', type: 'reference', reference: { storage: 'suppliers', on_delete: 'delete' } },
  ])
    await quoin.manage('POST', '/blueprintfields', { storage: 'goods', ...field })
})
afterAll(() => quoin.close())

beforeEach(async () => {
  await quoin.manage('PUT', `/_system/storages/${goods}`, { rules: null })
  const session = quoin.quoin.database.session()
  const all = await session.find('goods', search({ limit: 10_000, includeRemoved: true }))
  for (const one of objectsOf(all.documents.value)) await session.delete('goods', guidOf(one))
  const made: string[] = []
  for (const n of [1, 2, 3, 4, 5])
    made.push(
      guidOf((await session.create('goods', setFields({ n, code: `c${n}`, owner: n < 3 ? ann : '' }))).value),
    )
  await session.transaction.commit()
  guids = made
  for (const guid of guids.slice(0, 4)) await quoin.manage('DELETE', `${path}/${guid}`)
})

const restore = (body: JsonObject, as = 'admin') =>
  quoin.send('POST', `${path}/restore-many`, { ...(as && { as }), body })
const present = async () => (await quoin.documents('goods')).map(({ n }) => n)
const create = (storage: string, fields: JsonObject) =>
  quoin.manage('POST', `/_system/storages/${storage}/documents`, fields)

describe('refused, and nothing is restored', () => {
  test.each<[JsonObject, string, number]>([
    [{ filters: {} }, '', 401],
    [{ filters: {} }, 'remover', 403],
    [{}, 'admin', 400],
    [{ guids: [] }, 'admin', 400],
    [{ filters: {}, hard: true }, 'admin', 400],
  ])('%j as %j', async (body, as, status) => {
    expect([(await restore(body, as)).status, await present()]).toEqual([status, [5]])
  })

  test('what takes a value by now, or refers to what is removed, is listed as a whole', async () => {
    const supplier = guidOf(await create('suppliers', { name: 'Ada' }))
    const referring = guidOf(await create('goods', { n: 6, supplier }))
    await quoin.manage('DELETE', `/_system/storages/suppliers/documents/${supplier}`)
    for (const n of [2, 4]) await create('goods', { n: n * 10, code: `c${n}` })
    const before = await quoin.documents('goods')
    const reply = objectOf((await restore({ filters: {} })).body)
    const problem = expect.stringContaining('code')
    expect(reply).toMatchObject({
      error: 'CONFLICT',
      message: expect.stringMatching(/^3 documents of the storage goods cannot be restored, and none is: /),
      details: {
        total: 3,
        documents: [
          { guid: guids[1], problem },
          { guid: guids[3], problem },
          { guid: referring, problem: expect.stringContaining('supplier') },
        ],
      },
    })
    expect(await quoin.documents('goods')).toEqual(before)
    // The others alone.
    expect((await restore({ guids: [guids[0] ?? '', guids[2] ?? ''] })).body).toEqual({
      count: 2,
      job: null,
      run: expect.any(String),
    })
    expect(await present()).toEqual([1, 3, 5, 20, 40])
  })

  test('two removed documents with one value: the older one is restored alone', async () => {
    const again = guidOf(await create('goods', { n: 7, code: 'c1' }))
    await quoin.manage('DELETE', `${path}/${again}`)
    const reply = objectOf((await restore({ filters: { code: 'c1' } })).body)
    expect(objectOf(reply.details)).toMatchObject({ total: 1, documents: [{ guid: again }] })
    expect(await present()).toEqual([5])
  })

  test('more than go at once', async () => {
    const session = quoin.quoin.database.session()
    for (let n = 0; n < 1_000; n++) await session.create('goods', setFields({ n }))
    await session.transaction.commit()
    await quoin.manage('POST', `${path}/remove-many`, {
      filters: { n: { lt: 1_000 }, code: { exists: false } },
    })
    expect([(await restore({ filters: {} })).status, await present()]).toEqual([400, [5]])
    const { body } = await restore({ filters: {}, in_background: true })
    expect(objectOf(body).count).toBe(1_004)
    await expect.poll(present, { timeout: 60_000 }).toHaveLength(1_005)
  })
})

test('those that match and are removed come back, with history and one audit record', async () => {
  expect((await restore({ filters: { n: { lte: 2 } } })).body).toEqual({
    count: 2,
    job: null,
    run: expect.any(String),
  })
  expect(await present()).toEqual([1, 2, 5])
  const { body } = await quoin.send('GET', `${path}/${guids[0]}/history`, { as: 'admin' })
  expect(JSON.stringify(body)).toContain('"restored"')
  const audit = objectsOf(
    await quoin.manage('POST', '/_system/auditlogs', { filters: { action: 'restored' } }),
  )
  expect(audit[0]).toMatchObject({ name: 'goods', after: { documents: 2 } })
  expect((await restore({ filters: {} })).body).toEqual({ count: 2, job: null, run: expect.any(String) })
})

test('a job restores what it can, and lists the others in its progress', async () => {
  await create('goods', { n: 20, code: 'c2' })
  const { body } = await restore({ filters: {}, in_background: true })
  const { job, count } = objectOf(body)
  expect(count).toBe(4)
  const progress = async () =>
    objectOf(objectOf(await quoin.manage('GET', `/queue/${String(job)}`)).progress ?? {})
  await expect.poll(async () => (await progress()).finished, { timeout: 30_000 }).toBe(true)
  expect(await progress()).toMatchObject({ done: 4, changed: 3, refused: 1, problems: [{ guid: guids[1] }] })
  expect(await present()).toEqual([1, 3, 4, 5, 20])
})

test('a user whom rules bind restores what the rules let, all or none, and by no job', async () => {
  const rules = { see: 'doc.n < 4', remove: 'doc.owner == user.guid' }
  await quoin.manage('PUT', `/_system/storages/${goods}`, { rules })
  expect((await restore({ filters: {}, in_background: true }, 'ann')).status).toBe(403)
  const denied = await restore({ filters: {} }, 'ann')
  expect([denied.status, objectOf(denied.body).error, await present()]).toEqual([403, 'DENIED_BY_RULE', [5]])
  // What the user does not see is not among those that match.
  expect((await restore({ filters: { owner: ann } }, 'ann')).body).toEqual({
    count: 2,
    job: null,
    run: expect.any(String),
  })
  expect(await present()).toEqual([1, 2, 5])
})

describe('former values', () => {
  const put = (changes: JsonObject[], as = 'ann') =>
    quoin.send('POST', `${path}/put-back`, { as, body: { changes } })
  const change = (guid: string | undefined, from: JsonObject, to: JsonObject) => ({
    guid: guid ?? '',
    from,
    to,
  })

  test('a value that another document has by now is not put back; all others are, as one run', async () => {
    const session = quoin.quoin.database.session()
    const made: string[] = []
    for (let n = 0; n < 30; n++)
      made.push(guidOf((await session.create('goods', setFields({ n, code: `x${n}` }))).value))
    await session.transaction.commit()
    const to = (n: number) => (n === 7 ? 'c5' : `y${n}`)
    const reply = await put(made.map((guid, n) => change(guid, { code: `x${n}` }, { code: to(n) })))
    expect(reply.body).toEqual({
      count: 29,
      run: expect.any(String),
      left: [{ guid: made[7], fields: ['code'], message: expect.stringContaining('code') }],
    })
    const codes = (await quoin.documents('goods')).map(({ code }) => code)
    expect(codes.filter((code) => String(code).startsWith('y'))).toHaveLength(29)
    const { run } = objectOf(reply.body)
    const undone = await quoin.send('POST', `/runs/${String(run)}/undo`, { as: 'admin', body: {} })
    expect(objectOf(undone.body)).toMatchObject({ count: 29, left: 0 })
  })

  test('what others write at the same time is not lost', async () => {
    const session = quoin.quoin.database.session()
    await session.update('goods', guids[4] ?? '', setFields({ code: 'theirs' }))
    const reply = put([change(guids[4], { code: 'c5', n: 5 }, { code: 'mine', n: 6 })])
    await session.transaction.commit()
    expect((await reply).body).toMatchObject({ count: 1, left: [{ guid: guids[4], fields: ['code'] }] })
    expect(await quoin.documents('goods')).toMatchObject([{ code: 'theirs', n: 6 }])
  })
})
