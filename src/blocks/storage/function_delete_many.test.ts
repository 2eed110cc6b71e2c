import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import deleteMany from './function_delete_many.ts'

let fixture: TestDatabase
beforeAll(async () => {
  fixture = await openTestDatabase()
})
afterAll(() => fixture.close())

beforeEach(async () => {
  if (fixture.database.has('logs')) await fixture.database.drop('logs')
  await fixture.database.ensure('logs', {})
  await transact(fixture.database, async (session) => {
    for (const n of [1, 2, 3, 4]) {
      const made = await session.create('logs', setFields({ n }))
      if (n === 1) await session.setRemoved('logs', guidOf(documentOf(made)), true)
    }
  })
})

async function left() {
  const sort = [{ field: 'n', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database.session().find('logs', search({ sort, includeRemoved: true }))
  return objectsIn(documents.value).map(({ n }) => n)
}

const where = { kind: 'range', field: 'n', bounds: { lte: 3 } }

async function run(inputs: JsonObject) {
  const session = fixture.database.session()
  const ran = await runBlock(deleteMany, { session, inputs: { storage: 'logs', ...inputs } })
  await session.transaction.commit()
  return ran
}

test('a storage of the cluster is refused', async () => {
  const session = fixture.database.session()
  const refused = runBlock(deleteMany, {
    session,
    inputs: { storage: '_users', where },
  })
  await expect(refused).rejects.toMatchObject({ pin: 'storage' })
  await session.transaction.commit()
  expect(await left()).toEqual([1, 2, 3, 4])
})

test('those that match and are present are gone', async () => {
  expect((await run({ where })).outputs).toEqual({ count: 2 })
  expect(await left()).toEqual([1, 4])
})

test('removed ones too, if asked for', async () => {
  expect((await run({ where, include_removed: true })).outputs).toEqual({ count: 3 })
  expect(await left()).toEqual([4])
})

test('in the background it says which, and deletes none', async () => {
  const ran = await run({ where, include_removed: true, in_background: true })
  expect([ran.outputs, await left()]).toEqual([{ count: 3, job: 'job 1' }, [1, 2, 3, 4]])
  expect(ran.changes).toMatchObject([{ kind: 'delete', includeRemoved: true, query: where }])
})
