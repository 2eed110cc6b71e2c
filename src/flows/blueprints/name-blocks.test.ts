import { afterEach, beforeEach, expect, test } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { seededRandom } from '../../../test/seeded-random.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { openRecords } from '../../records/records.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type Flows, openFlows } from '../flows.ts'
import { installBlueprint } from './install-blueprint.ts'
import { nameBlocks } from './name-blocks.ts'

let fixture: TestDatabase
let flows: Flows
beforeEach(async () => {
  fixture = await openTestDatabase()
  flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(withoutRules(fixture.database), fixture.clock),
    catalogue: await loadBlocks(),
    random: seededRandom(1),
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    reservedRoots: new Set(),
  })
})
afterEach(async () => {
  await flows.close()
  await fixture.close()
})

const blocks = {
  one: { type: 'storage', title: 'Goods', fields: { storage: 'goods' } },
  two: { type: 'storage', title: 'Goods', fields: { storage: 'goods' } },
  query: { type: 'value_default', title: 'Query' },
}

const records = (name: string) => findAll(fixture.database.session(), name, matchAll, 1000)
const namesIn = (all: readonly JsonObject[]) => all.map(({ name }) => name).toSorted()

/** As a former version wrote it. */
async function forgetNames(): Promise<void> {
  const [first, ...rest] = await records(systemStorages.blocks)
  const [deployment] = await records(systemStorages.deployments)
  const unnamed = objectsIn(deployment?.blocks ?? []).map(({ name: _name, ...block }) => block)
  const { guid, ...gone } = { ...unnamed[0], guid: 'gone' }
  await transact(fixture.database, async (session) => {
    for (const record of rest)
      await session.update(systemStorages.blocks, guidOf(record), setFields({ name: null }))
    const unsaved = { change: 'updated', type: 'storage', title: 'Other' }
    await session.update(systemStorages.blocks, guidOf(first ?? {}), setFields({ name: null, unsaved }))
    await session.update(
      systemStorages.deployments,
      guidOf(deployment ?? {}),
      setFields({ blocks: [...unnamed, { ...gone, guid }] }),
    )
  })
}

test('names what is saved, staged and deployed; once only, and not what has a name', async () => {
  await installBlueprint(flows, { name: 'a', blocks }, { guid: '', username: 'a' })
  expect(namesIn(await records(systemStorages.blocks))).toEqual(['one', 'query', 'two'])
  await forgetNames()

  await nameBlocks(fixture.database)

  const after = await records(systemStorages.blocks)
  expect(namesIn(after)).toEqual(['goods', 'goods_2', 'query_2'])
  const [staged] = after.map(({ unsaved }) => unsaved).filter(isJsonObject)
  expect(after.find(({ unsaved }) => isJsonObject(unsaved))?.name).toBe(staged?.name)
  const [deployment] = await records(systemStorages.deployments)
  const deployed = objectsIn(deployment?.blocks ?? [])
  expect(namesIn(deployed).slice(0, 2)).toEqual(['goods', 'goods_2'])
  expect(new Set(namesIn(deployed)).size).toBe(4)
  for (const record of after)
    expect(deployed.find(({ guid }) => guid === guidOf(record))?.name).toBe(record.name)

  await forgetNames()
  await nameBlocks(fixture.database)
  expect(namesIn(await records(systemStorages.blocks))).toEqual([null, null, null])
})
