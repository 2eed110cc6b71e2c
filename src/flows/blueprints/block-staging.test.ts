import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { seededRandom } from '../../../test/seeded-random.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { openRecords } from '../../records/records.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { type Flows, openFlows } from '../flows.ts'
import { createBlock, type NewBlock, stageRemoval, stageUpdate } from './block-staging.ts'
import { createBlueprint } from './blueprint-records.ts'

let fixture: TestDatabase
let flows: Flows
let blueprint: string
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
  blueprint = guidOf(await createBlueprint(flows.records, flows.random, { name: 'Many' }, by))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await flows.close()
  await fixture.close()
})

const by = { guid: '', username: 'builder' }

function add(content: Partial<NewBlock> = {}): Promise<JsonObject> {
  const block = { type: 'value_default', blueprint_guid: blueprint, ...content }
  return createBlock(flows.records, flows.catalogue, block, by)
}

const update = (guid: string, content: Partial<NewBlock>) =>
  stageUpdate(flows.records, flows.catalogue, guid, content, by)

/** Characters of stored documents that are parsed meanwhile. */
async function parsed(work: () => Promise<unknown>): Promise<number> {
  let characters = 0
  const read = Object.getOwnPropertyDescriptor(StoredJson.prototype, 'value')?.get
  const spy = vi.spyOn(StoredJson.prototype, 'value', 'get').mockImplementation(function (this: StoredJson) {
    characters += this.text.length
    return read?.call(this)
  })
  await work()
  spy.mockRestore()
  return characters
}

function referred(record: JsonObject): unknown {
  const [pin] = objectsIn(record.in_pins ?? [])
  return pin?.refs
}

test('a block is added and changed without reading the other blocks of its blueprint', async () => {
  const one = guidOf(await add({ title: 'One' }))
  const pins = [{ id: 'value', expression: 'one + 1' }]
  const change = () => update(one, { in_pins: [{ id: 'value', value: 1 }] })
  await change()
  for (let n = 0; n < 3; n++) await add({ in_pins: pins })
  const [few, fewChanged] = [await parsed(() => add({ in_pins: pins })), await parsed(change)]
  for (let n = 0; n < 60; n++) await add({ title: `Other ${n % 7}` })
  await add({ in_pins: pins })
  const [many, manyChanged] = [await parsed(() => add({ in_pins: pins })), await parsed(change)]
  // A number is longer than none.
  expect(many).toBeLessThan(few * 1.5)
  expect(manyChanged).toBeLessThan(fewChanged * 1.5)
})

test('each block that is given no name gets the first free one, whatever was removed or renamed between', async () => {
  const names: string[] = []
  for (let n = 0; n < 40; n++) names.push(textIn((await add({ title: 'Open tasks' })).name))
  expect(names).toEqual(['open_tasks', ...Array.from({ length: 39 }, (_, n) => `open_tasks_${n + 2}`)])
  expect((await add({ title: 'If' })).name).toBe('if_2')
  await add({ title: 'Rest', name: 'rest_2' })
  expect([(await add({ title: 'Rest' })).name, (await add({ title: 'Rest' })).name]).toEqual([
    'rest',
    'rest_3',
  ])
})

test('a name is taken while a block has it, saved or staged', async () => {
  const first = guidOf(await add({ name: 'first' }))
  await expect(add({ name: 'first' })).rejects.toThrow(
    /is named first: choose another name, such as value_default/,
  )
  await update(first, { name: 'second' })
  await expect(add({ name: 'second' })).rejects.toThrow(/is named second/)
  expect((await add({ name: 'first' })).name).toBe('first')
  await stageRemoval(flows.records, first, by)
  expect((await add({ name: 'second' })).name).toBe('second')
  await expect(update(first, { title: 'Back' })).rejects.toThrow(/is named first/)
})

test('expressions refer to blocks by the names that these have when they are written, saved or staged', async () => {
  const [a, b] = [guidOf(await add({ name: 'a' })), guidOf(await add({ name: 'b' }))]
  await update(a, { name: 'c' })
  const expression = 'a + b + c'
  expect(referred(await add({ in_pins: [{ id: 'value', expression }] }))).toEqual({ b, c: a })
  const other = guidOf(await add({ name: 'd' }))
  const changed = await update(other, { in_pins: [{ id: 'value', expression: 'd + b' }] })
  const { unsaved } = changed
  expect(isJsonObject(unsaved) && referred(unsaved)).toEqual({ d: other, b })
})

test('a block of another blueprint is not referred to', async () => {
  const there = guidOf(await createBlueprint(flows.records, flows.random, { name: 'Other' }, by))
  const stranger = guidOf(await add({ name: 'stranger', blueprint_guid: there }))
  const pin = { id: 'value', expression: 'stranger + 1', refs: { stranger } }
  expect(referred(await add({ in_pins: [pin] }))).toBeUndefined()
})
