import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { seededRandom } from '../../../test/seeded-random.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { openRecords, type RecordContext } from '../../records/records.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { createBlueprint } from '../blueprints/blueprint-records.ts'
import { listVersions } from './versions.ts'

const by = { guid: '01900000-0000-7000-8000-00000000000a', username: 'ada' }
/** A version of four is larger than what is read in one search. */
const block = { type: 'value_default', fields: { list: ['"],[{', { deep: 'x'.repeat(300_000) }] } }

let fixture: TestDatabase
let records: RecordContext
let blueprint: string

beforeEach(async () => {
  fixture = await openTestDatabase()
  records = await openRecords(withoutRules(fixture.database), fixture.clock)
  blueprint = guidOf(await createBlueprint(records, seededRandom(1), { name: 'Listed' }, by))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await fixture.close()
})

function store(versions: readonly JsonObject[]): Promise<void> {
  return transact(fixture.database, async (session) => {
    for (const version of versions)
      await session.create(
        systemStorages.deployments,
        setFields({ blueprint_guid: blueprint, by, ...version }),
      )
    const newest = versions.at(-1)?.number ?? 0
    await session.update(systemStorages.blueprints, blueprint, setFields({ version: newest }))
  })
}

const listed = async () =>
  (await listVersions(records, blueprint)).map(({ number, blocks, live }) => [number, blocks, live])

test('versions are listed with how many blocks they have, few and many, the newest first', async () => {
  expect(await listed()).toEqual([])
  const counts = [0, 1, 2, 5, 0, 3, 1, 4, 2]
  await store(counts.map((count, at) => ({ number: at + 1, blocks: Array(count).fill(block) })))
  expect(await listed()).toEqual(counts.map((count, at) => [at + 1, count, at === 8]).reverse())
  const [newest] = await listVersions(records, blueprint)
  expect(newest).toMatchObject({ by, deployed: expect.any(Number) })
})

test('the newest hundred are listed, whatever their numbers are and whatever has none', async () => {
  await store(
    Array.from({ length: 130 }, (_, at) => ({ number: 2 * at + 1, ...(at % 2 === 0 && { blocks: [{}] }) })),
  )
  const expected = Array.from({ length: 100 }, (_, at) => [2 * (129 - at) + 1, at % 2, at === 0])
  expect(await listed()).toEqual(expected)
})

test('other work runs between versions', async () => {
  await store(Array.from({ length: 9 }, (_, at) => ({ number: at + 1, blocks: Array(4).fill(block) })))
  slowSteps()
  expect(await turnsDuring(listed)).toBeGreaterThan(9 * 4)
})
