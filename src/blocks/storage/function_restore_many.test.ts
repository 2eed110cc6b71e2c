import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import type { Change } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import restoreMany from './function_restore_many.ts'

let fixture: TestDatabase
beforeAll(async () => {
  fixture = await openTestDatabase()
})
afterAll(() => fixture.close())

beforeEach(async () => {
  if (fixture.database.has('logs')) await fixture.database.drop('logs')
  await fixture.database.ensure('logs', { text: true })
  await transact(fixture.database, async (session) => {
    for (const n of [1, 2, 3, 4]) await session.create('logs', setFields({ n, text: `entry ${n}` }))
    const { documents } = await session.find('logs', search({ query: upTo(3) }))
    for (const one of objectsIn(documents.value)) await session.setRemoved('logs', guidOf(one), true)
  })
})

const upTo = (lte: number) => ({ kind: 'range', field: 'n', bounds: { lte } }) as const

async function present() {
  const sort = [{ field: 'n', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database.session().find('logs', search({ sort }))
  return objectsIn(documents.value).map(({ n }) => n)
}

async function run(inputs: JsonObject) {
  const session = fixture.database.session()
  const ran = await runBlock(restoreMany, { session, inputs: { storage: 'logs', ...inputs } })
  await session.transaction.commit()
  return ran
}

test.each(['_users', 'No Name'])('the storage %j is refused', async (storage) => {
  await expect(run({ storage, where: upTo(2) })).rejects.toMatchObject({ pin: 'storage' })
  expect(await present()).toEqual([4])
})

test('an observer that fails in the middle leaves all of them removed', async () => {
  let reported = 0
  const end = fixture.database.observe('logs', () => {
    reported += 1
    if (reported === 2) throw new Error('no')
  })
  await expect(run({ where: upTo(3) })).rejects.toThrow('no')
  end()
  expect([reported, await present()]).toEqual([2, [4]])
})

test('removed ones that match are restored, each with its own event, and are found by their text again', async () => {
  const kinds: Change['kind'][] = []
  const end = fixture.database.observe('logs', (_session, { kind }) => void kinds.push(kind))
  expect((await run({ where: upTo(2) })).outputs).toEqual({ count: 2 })
  end()
  expect([kinds, await present()]).toEqual([
    ['restored', 'restored'],
    [1, 2, 4],
  ])
  expect((await run({ where: upTo(2) })).outputs).toEqual({ count: 0 })
  const query = { kind: 'simple_query_string', fields: [], text: 'entry' } as const
  expect((await fixture.database.session().find('logs', search({ query }))).length).toBe(3)
  expect((await run({ where: { kind: 'all' } })).outputs).toEqual({ count: 1 })
  expect(await present()).toEqual([1, 2, 3, 4])
})
