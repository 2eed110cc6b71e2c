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
import { keepEmptyLists } from './keep-empty-lists.ts'

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

const flow = (more: JsonObject) => ({
  get: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
  list: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'list' } },
  must: { type: 'query_bool_must', in: { field: 'status', terms: '@list.value', ...more } },
  store: { type: 'storage', fields: { storage: 'a' } },
  find: {
    type: 'function_search',
    in: { flow: '@get.flow', storage: '@store.storage', query: '@must.query' },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } },
})

const records = (name: string) => findAll(fixture.database.session(), name, matchAll, 1000)

/** What `ignore_empty` of a block says; undefined: nothing. */
function ignores(content: JsonObject): unknown {
  return objectsIn(content.in_pins ?? []).find(({ id }) => id === 'ignore_empty')?.value
}

const listsOf = (all: readonly JsonObject[]) => all.filter(({ type }) => type === 'query_bool_must')

test('writes true on what is saved, staged and deployed, and on nothing else; once only', async () => {
  await installBlueprint(flows, { name: 'a', blocks: flow({}) }, { guid: '', username: 'a' })
  const [block] = listsOf(await records(systemStorages.blocks))
  const { type, in_pins: pins } = block ?? {}
  const staged = { change: 'updated', type: type ?? '', in_pins: pins ?? [] }
  await transact(fixture.database, (session) =>
    session.update(systemStorages.blocks, guidOf(block ?? {}), setFields({ unsaved: staged })),
  )
  const others = (await records(systemStorages.blocks)).filter(({ type: other }) => other !== type)

  await keepEmptyLists(fixture.database)

  const all = await records(systemStorages.blocks)
  const [after] = listsOf(all)
  expect(ignores(after ?? {})).toBe(true)
  expect(isJsonObject(after?.unsaved) && ignores(after.unsaved)).toBe(true)
  expect(all.filter(({ type: other }) => other !== type)).toEqual(others)
  const [deployment] = await records(systemStorages.deployments)
  expect(listsOf(objectsIn(deployment?.blocks ?? [])).map(ignores)).toEqual([true])

  const file = { name: 'b', blocks: { must: { type: 'query_bool_must', in: { field: 'a', terms: [] } } } }
  await installBlueprint(flows, file, { guid: '', username: 'a' })
  await keepEmptyLists(fixture.database)
  expect(
    listsOf(await records(systemStorages.blocks))
      .map(ignores)
      .toSorted(),
  ).toEqual([true, undefined])
})

test.each<[string, JsonObject, number]>([
  ['without the pin is warned', {}, 1],
  ['that says what an empty list means is not', { ignore_empty: false }, 0],
  ['with a constant list is not', { terms: ['open'] }, 0],
])('a file %s', async (_name, more, count) => {
  const guid = await installBlueprint(flows, { name: 'a', blocks: flow(more) }, { guid: '', username: 'a' })
  const by = { guid: '', username: 'a', mayTakeAccountPages: true, lacks: () => false }
  const { warnings = [] } = await flows.deployments.deploy(guid, by)
  expect(objectsIn(warnings).filter(({ pin }) => pin === 'ignore_empty')).toHaveLength(count)
})
