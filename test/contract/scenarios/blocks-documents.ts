/** Blocks that read and write documents. Each flow is on a storage of its own. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/shared/json.ts'
import { guidOf, objectOf } from '../../end-to-end/harness.ts'
import { call, found, nobody } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, on, onStore, param, reply, setAll, setOne, storage } from '../flow-blocks.ts'

/** A storage with two documents, and an endpoint on each of them that does something to the one that the path names. */
async function onOne(room: ContractRoom, type: string, more: JsonObject = {}, pins: JsonObject = {}) {
  const uri = room.name()
  const guid = await room.fill(uri, [{ n: 1 }, { n: 2 }])
  const documents = `/_system/storages/${guid}/documents`
  const [one = {}, two = {}] = await found(room, `${documents}/search`, { sort: [{ n: 'asc' }] })
  await room.run({
    store: storage(uri),
    on: on('put', `${uri}/{guid}`),
    guid: param('guid'),
    ...more,
    do: onStore(type, '@on.flow', { guid: '@guid.value', ...pins }),
    reply: reply('@do.flow', '@do.document'),
    unknown: reply('@do.not_found', 'unknown', 404),
  })
  const run = (which: string, body: JsonObject = {}) => call(room, 'PUT', `${uri}/${which}`, body)
  expect(await run(nobody)).toMatchObject({ status: 404, body: 'unknown' })
  const left = async () => (await found(room, `${documents}/search`, {})).map(({ n }) => n).sort()
  expect(await left()).toEqual([1, 2])
  return { documents, one, two, run, left }
}

const selectsStorage: Scenario = async (room) => {
  const [first, second] = [room.name(), room.name()]
  for (const uri of [first, second])
    await room.run({
      store: storage(uri),
      on: on('post', uri),
      set: setAll('@on.body'),
      do: create('@on.flow', '@set.mutations'),
      reply: reply('@do.flow', '@do.document'),
    })
  const made = await call(room, 'POST', first, { a: 1 })
  expect([await room.documents(first), await room.documents(second)]).toEqual([[made.body], []])
}

const creates: Scenario = async (room) => {
  const uri = room.name()
  await room.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document', 201),
  })
  const made = await call(room, 'POST', uri, { a: { b: [1] }, _meta: { guid: nobody } })
  expect(made).toMatchObject({ status: 201, body: { a: { b: [1] }, _meta: { removed: 0 } } })
  expect(guidOf(made.body)).not.toBe(nobody)
  expect(await room.documents(uri)).toEqual([made.body])
  expect((await call(room, 'POST', uri, ['no object'])).status).toBe(400)
  expect(await room.documents(uri)).toHaveLength(1)
}

const reads: Scenario = async (room) => {
  const { one, two, run } = await onOne(room, 'function_get_document')
  expect((await run(guidOf(one))).body).toEqual(one)
  expect((await run(guidOf(two))).body).toEqual(two)
}

const updates: Scenario = async (room) => {
  const more = { set: setAll('@on.body') }
  const pins = { mutations: '@set.mutations' }
  const { one, run, left } = await onOne(room, 'function_update_document_mutations', more, pins)
  const changed = await run(guidOf(one), { n: 7 })
  expect(changed).toMatchObject({ status: 200, body: { n: 7, _meta: { guid: guidOf(one) } } })
  expect(objectOf(objectOf(changed.body)._meta).update_hash).not.toBe(objectOf(one._meta).update_hash)
  expect(await left()).toEqual([2, 7])
}

const removesSoftly: Scenario = async (room) => {
  const { documents, one, run, left } = await onOne(room, 'function_remove_document')
  expect((await run(guidOf(one))).status).toBe(200)
  expect(await left()).toEqual([2])
  expect((await run(guidOf(one))).status).toBe(404)
  const all = await found(room, `${documents}/search`, { include_removed: true })
  expect(all.map(({ n }) => n).sort()).toEqual([1, 2])
  await room.manage('POST', `${documents}/${guidOf(one)}/restore`)
  expect(await left()).toEqual([1, 2])
}

const deletesForGood: Scenario = async (room) => {
  const { documents, one, run, left } = await onOne(room, 'function_delete_document')
  expect((await run(guidOf(one))).status).toBe(200)
  expect(await left()).toEqual([2])
  const all = await found(room, `${documents}/search`, { include_removed: true })
  expect(all.map(({ n }) => n)).toEqual([2])
  const restored = await room.send('POST', `${documents}/${guidOf(one)}/restore`, { as: 'admin' })
  expect(restored.status).toBe(404)
}

/** What a create with these mutations stores of what is posted. */
async function stored(room: ContractRoom, mutations: JsonObject, body: JsonObject) {
  const uri = room.name()
  await room.run({
    store: storage(uri),
    on: on('post', uri),
    ...mutations,
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document'),
  })
  const answer = await call(room, 'POST', uri, body)
  expect(answer.status, answer.text).toBe(200)
  const { _meta, ...rest } = objectOf((await room.documents(uri))[0])
  return rest
}

const setsSeveral: Scenario = async (room) => {
  const set = {
    type: 'mutations_set_bp_field_multiple',
    in: { a: '@sent.a', b: 'fixed', c: '@sent.c' },
    fields: { fields: ['a', 'b', 'c'] },
  }
  const sent = { sent: fields('@on.body', 'a', 'c'), set }
  expect(await stored(room, sent, { a: 1, other: 2 })).toEqual({ a: 1, b: 'fixed' })
  const chosen = {
    type: 'mutations_set_bp_field_multiple',
    fields: { fields: ['a'] },
    in: { object: '@on.body' },
  }
  expect(await stored(room, { set: chosen }, { a: 1, other: 2 })).toEqual({ a: 1 })
  await refusesBadField(room)
}

/** A field with a rule is checked wherever it is set. */
async function refusesBadField(room: ContractRoom): Promise<void> {
  const uri = room.name()
  await room.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document'),
  })
  const rule = { name: 'age', type: 'number', storage: uri, validation_rules: { min: 0 } }
  await room.manage('POST', '/blueprintfields', rule)
  const refused = await call(room, 'POST', uri, { age: -1 })
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('age') } })
  expect(await room.documents(uri)).toEqual([])
  expect((await call(room, 'POST', uri, { age: 1 })).status).toBe(200)
}

const setsOne: Scenario = async (room) => {
  const set = { ...setOne('deep.place', '@sent.a') }
  expect(await stored(room, { sent: fields('@on.body', 'a'), set }, { a: [1] })).toEqual({
    deep: { place: [1] },
  })
}

const counts =
  (amount: number): Scenario =>
  async (room) => {
    const set = { type: 'mutations_increment_by_field', in: { field: 'n', amount } }
    const pins = { mutations: '@set.mutations' }
    const { one, run, left } = await onOne(room, 'function_update_document_mutations', { set }, pins)
    const answers = await Promise.all(Array.from({ length: 20 }, () => run(guidOf(one))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(new Set(answers.map(({ body }) => objectOf(body).n)).size).toBe(20)
    expect(await left()).toEqual([1 + 20 * amount, 2].sort())
  }

const increments: Scenario = async (room) => {
  await counts(2)(room)
  await counts(-2)(room)
}

export const scenarios: Scenarios = {
  storage: selectsStorage,
  function_create_document_from_mutations: creates,
  function_get_document: reads,
  function_update_document_mutations: updates,
  function_remove_document: removesSoftly,
  function_delete_document: deletesForGood,
  mutations_set_bp_field_multiple: setsSeveral,
  mutations_set_custom_field: setsOne,
  mutations_increment_by_field: increments,
  'mutations_increment_by_field: increment': counts(1),
  'mutations_increment_by_field: decrement': counts(-1),
}
