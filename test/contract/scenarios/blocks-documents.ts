/** Blocks that read and write documents. Each flow is on a storage of its own. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf } from '../../end-to-end/harness.ts'
import { call, found, needs, nobody, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, on, onStore, param, reply, setAll, setOne, storage } from '../flow-blocks.ts'

/**
 * A storage with two documents, and an endpoint that does something to the one that the path names. `first`: what is
 * posted for a document that is not there.
 */
async function onOne(
  fixture: ContractFixture,
  type: string,
  more: JsonObject = {},
  pins: JsonObject = {},
  first: JsonObject = {},
) {
  const uri = fixture.name()
  const guid = await fixture.fill(uri, [{ n: 1 }, { n: 2 }])
  const documents = `/_system/storages/${guid}/documents`
  const [one = {}, two = {}] = await found(fixture, `${documents}/search`, { sort: [{ n: 'asc' }] })
  const updates = type === 'function_update_document_mutations'
  await fixture.run({
    store: storage(uri),
    on: on('put', `${uri}/{guid}`),
    guid: param('guid'),
    ...more,
    do: onStore(type, '@on.flow', { guid: '@guid.value', ...pins }),
    reply: reply('@do.flow', '@do.document'),
    unknown: reply('@do.not_found', 'unknown', 404),
    ...(updates && { conflict: reply('@do.conflict', '@do.document', 409) }),
  })
  const run = (which: string, body: JsonObject = {}) => call(fixture, 'PUT', `${uri}/${which}`, body)
  expect(await run(nobody, first)).toMatchObject({ status: 404, body: 'unknown' })
  const left = async () => (await found(fixture, `${documents}/search`, {})).map(({ n }) => n).sort()
  expect(await left()).toEqual([1, 2])
  return { uri, documents, one, two, run, left }
}

/** The document itself is as good as its guid; what is no stored document is not. Gives what the endpoint does. */
async function byDocument(
  fixture: ContractFixture,
  type: string,
  pins: JsonObject = {},
  more: JsonObject = {},
) {
  const uri = fixture.name()
  await fixture.fill(uri, [{ n: 1 }, { n: 2 }])
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', 'document', 'guid', 'hash'),
    ...more,
    do: onStore(type, '@on.flow', { document: '@sent.document', guid: '@sent.guid', ...pins }),
    reply: reply('@do.flow', '@do.document'),
    unknown: reply('@do.not_found', 'unknown', 404),
  })
  const [one = {}, two = {}] = await fixture.documents(uri)
  const send = (body: JsonObject) => call(fixture, 'POST', uri, body)
  for (const document of [{ n: 1 }, { _meta: 1 }, { _meta: { guid: '' } }, { _meta: { guid: 7 } }])
    expect([document, (await send({ document })).status]).toEqual([document, 400])
  expect((await send({})).status).toBe(400)
  expect(await fixture.documents(uri)).toHaveLength(2)
  return { uri, one, two, send }
}

const writing = (type: string, pins: JsonObject): JsonObject => ({
  store: storage('kept'),
  on: on('post', 'never'),
  set: setAll('@on.body'),
  do: onStore(type, '@on.flow', pins),
  reply: reply('@do.flow', '@do.document'),
})

const selectsStorage: Scenario = async (fixture) => {
  const [first, second] = [fixture.name(), fixture.name()]
  expect(fixture.quoin.database.has(first)).toBe(false)
  for (const uri of [first, second])
    await fixture.run({
      store: storage(uri),
      on: on('post', uri),
      set: setAll('@on.body'),
      do: create('@on.flow', '@set.mutations'),
      reply: reply('@do.flow', '@do.document'),
    })
  expect(fixture.quoin.database.has(first), 'it is made').toBe(true)
  const made = await call(fixture, 'POST', first, { a: 1 })
  expect([await fixture.documents(first), await fixture.documents(second)]).toEqual([[made.body], []])
  const blocks = writing('function_create_document_from_mutations', { mutations: '@set.mutations' })
  const users = await fixture.manage('POST', '/users/search', { count: true })
  expect(await refused(fixture, { ...blocks, store: storage('No Name') })).toContain('storage')
  const uri = fixture.name()
  await fixture.run({ ...blocks, store: storage('_users'), on: on('post', uri) })
  expect((await call(fixture, 'POST', uri, { a: 1 })).status).toBe(500)
  expect(await refused(fixture, { ...blocks, store: { type: 'storage' } })).toContain('storage')
  expect(await fixture.manage('POST', '/users/search', { count: true })).toEqual(users)
}

const creates: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document', 201),
  })
  const made = await call(fixture, 'POST', uri, { a: { b: [1] }, _meta: { guid: nobody } })
  expect(made).toMatchObject({ status: 201, body: { a: { b: [1] }, _meta: { removed: 0 } } })
  expect(guidOf(made.body)).not.toBe(nobody)
  expect(await fixture.documents(uri)).toEqual([made.body])
  expect((await call(fixture, 'POST', uri, ['no object'])).status).toBe(400)
  expect(await fixture.documents(uri)).toHaveLength(1)
  const type = 'function_create_document_from_mutations'
  await needs(
    fixture,
    writing(type, { storage: '@store.storage', mutations: '@set.mutations' }),
    'do',
    'storage',
    'mutations',
  )
}

const reads: Scenario = async (fixture) => {
  const { documents, one, two, run } = await onOne(fixture, 'function_get_document')
  expect((await run(guidOf(one))).body).toEqual(one)
  expect((await run(guidOf(two))).body).toEqual(two)
  await fixture.manage('DELETE', `${documents}/${guidOf(two)}`)
  expect(await run(guidOf(two)), 'removed').toMatchObject({ status: 404, body: 'unknown' })
  await needs(
    fixture,
    writing('function_get_document', { storage: '@store.storage', guid: 'x' }),
    'do',
    'storage',
    'guid',
  )
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', 'guid'),
    do: onStore('function_get_document', '@on.flow', { guid: '@sent.guid' }),
    unknown: reply('@do.not_found', 'unknown', 404),
  })
  for (const body of [{ guid: '' }, {}]) expect((await call(fixture, 'POST', uri, body)).status).toBe(400)
}

const updates: Scenario = async (fixture) => {
  const more = { set: setAll('@on.body') }
  const pins = { mutations: '@set.mutations' }
  const { documents, one, run, left } = await onOne(fixture, 'function_update_document_mutations', more, pins)
  const changed = await run(guidOf(one), { n: 7 })
  expect(changed).toMatchObject({ status: 200, body: { n: 7, _meta: { guid: guidOf(one) } } })
  expect(objectOf(objectOf(changed.body)._meta).update_hash).not.toBe(objectOf(one._meta).update_hash)
  expect(await left()).toEqual([2, 7])
  expect((await run(guidOf(one), { more: 1 })).body, 'the others stay').toMatchObject({ n: 7, more: 1 })
  await fixture.manage('DELETE', `${documents}/${guidOf(one)}`)
  expect(await run(guidOf(one), { n: 8 })).toMatchObject({ status: 404, body: 'unknown' })
  const type = 'function_update_document_mutations'
  const set = { set: setOne('n', 9) }
  const { one: first, send, uri } = await byDocument(fixture, type, pins, set)
  expect((await send({ document: first })).body).toMatchObject({ n: 9, _meta: { guid: guidOf(first) } })
  expect((await fixture.documents(uri)).map(({ n }) => n)).toEqual([9, 2])
  await onlyUnchanged(fixture)
  const whole = { storage: '@store.storage', guid: 'x', mutations: '@set.mutations' }
  await needs(fixture, writing(type, whole), 'do', 'storage', 'mutations')
}

/** With an outdated `update_hash` nothing is changed. */
async function onlyUnchanged(fixture: ContractFixture): Promise<void> {
  const set = { sent: fields('@on.body', 'hash', 'n'), set: setOne('n', '@sent.n') }
  const pins = { mutations: '@set.mutations', update_hash: '@sent.hash' }
  const { one, run, left } = await onOne(fixture, 'function_update_document_mutations', set, pins)
  const hash = String(objectOf(one._meta).update_hash)
  expect(await run(guidOf(one), { n: 3, hash })).toMatchObject({ status: 200, body: { n: 3 } })
  expect(await run(guidOf(one), { n: 4, hash }), 'too late').toMatchObject({ status: 409, body: { n: 3 } })
  expect(await left()).toEqual([2, 3])
  expect(await run(guidOf(one), { n: 5, hash: '' })).toMatchObject({ status: 200, body: { n: 5 } })
}

const removesSoftly: Scenario = async (fixture) => {
  const type = 'function_remove_document'
  const { documents, one, run, left } = await onOne(fixture, type)
  const removed = await run(guidOf(one))
  expect(removed).toMatchObject({ status: 200, body: { n: 1, _meta: { removed: expect.any(Number) } } })
  expect(objectOf(objectOf(removed.body)._meta).removed).toBeGreaterThan(0)
  expect(await left()).toEqual([2])
  expect((await run(guidOf(one))).status).toBe(404)
  const all = await found(fixture, `${documents}/search`, { include_removed: true })
  expect(all.map(({ n }) => n).sort()).toEqual([1, 2])
  await fixture.manage('POST', `${documents}/${guidOf(one)}/restore`)
  expect(await left()).toEqual([1, 2])
  const { two, send, uri } = await byDocument(fixture, type)
  expect((await send({ document: two })).body).toMatchObject({ n: 2 })
  expect((await fixture.documents(uri)).map(({ n }) => n)).toEqual([1])
  await needs(fixture, writing(type, { storage: '@store.storage', guid: 'x' }), 'do', 'storage')
}

const deletesForGood: Scenario = async (fixture) => {
  const type = 'function_delete_document'
  const { documents, one, two, run, left } = await onOne(fixture, type)
  expect(await run(guidOf(one))).toMatchObject({ status: 200, body: one })
  expect(await left()).toEqual([2])
  const all = async () =>
    (await found(fixture, `${documents}/search`, { include_removed: true })).map(({ n }) => n)
  expect(await all()).toEqual([2])
  const restored = await fixture.send('POST', `${documents}/${guidOf(one)}/restore`, { as: 'admin' })
  expect(restored.status).toBe(404)
  await fixture.manage('DELETE', `${documents}/${guidOf(two)}`)
  expect(await all()).toEqual([2])
  expect((await run(guidOf(two))).status, 'also one that was removed').toBe(200)
  expect(await all()).toEqual([])
  const { one: first, send, uri } = await byDocument(fixture, type)
  expect((await send({ document: first })).body).toMatchObject({ n: 1 })
  expect((await fixture.documents(uri)).map(({ n }) => n)).toEqual([2])
  await needs(fixture, writing(type, { storage: '@store.storage', guid: 'x' }), 'do', 'storage')
}

/** What a create with these mutations stores of what is posted; the status where it is refused. */
async function storing(fixture: ContractFixture, mutations: JsonObject) {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    ...mutations,
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document'),
  })
  return async (body: JsonValue): Promise<JsonValue> => {
    const answer = await call(fixture, 'POST', uri, body)
    if (answer.status !== 200) return answer.status
    const { _meta, ...rest } = objectOf((await fixture.documents(uri)).at(-1))
    expect(answer.body).toMatchObject(rest)
    return rest
  }
}

const several = (pins: JsonObject, chosen: readonly string[]) => ({
  type: 'mutations_set_bp_field_multiple',
  in: pins,
  fields: { fields: chosen },
})

const setsSeveral: Scenario = async (fixture) => {
  const set = several({ a: '@sent.a', b: 'fixed', c: '@sent.c' }, ['a', 'b', 'c'])
  const pins = await storing(fixture, { sent: fields('@on.body', 'a', 'c'), set })
  expect(await pins({ a: 1, other: 2 })).toEqual({ a: 1, b: 'fixed' })
  expect(await pins({ a: null, c: '' })).toEqual({ a: null, b: 'fixed', c: '' })
  const chosen = await storing(fixture, { set: several({ object: '@on.body' }, ['a', 'deep.in', 'b']) })
  expect(await chosen({ a: 1, other: 2, ab: 3, 'b.x': 4 })).toEqual({ a: 1, b: { x: 4 } })
  expect(await chosen({ deep: { in: 1, out: 2 } })).toEqual({ deep: { in: 1 } })
  expect(await chosen({ deep: { out: 2 }, b: { c: 1 } })).toEqual({ b: { c: 1 } })
  const all = await storing(fixture, { set: setAll('@on.body') })
  expect(await all({ a: 1, deep: { in: [1] }, _meta: { guid: nobody }, '_meta.removed': 5 })).toEqual({
    a: 1,
    deep: { in: [1] },
  })
  for (const wrong of [[], 'text', 7, null]) expect([wrong, await all(wrong)]).toEqual([wrong, 400])
  expect(await all({ 'a..b': 1 })).toBe(400)
  const before = { first: setOne('a', 'before'), more: setOne('z', 'before') }
  const both = several({ mutations: '@first.mutations', object: '@on.body', b: 'by pin' }, [
    'a',
    'b',
    'object',
  ])
  const after = await storing(fixture, { ...before, set: both })
  expect(await after({ b: 'by object' })).toEqual({ a: 'before', b: 'by pin' })
  expect(await after({ a: 1, object: 2 })).toEqual({ a: 1, b: 'by pin', object: 2 })
  await refusesBadField(fixture)
}

/** A field with a type and rules is checked wherever it is set. */
async function refusesBadField(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    do: create('@on.flow', '@set.mutations'),
    reply: reply('@do.flow', '@do.document'),
  })
  const rule = { name: 'age', type: 'number', storage: uri, validation_rules: { min: 0 } }
  await fixture.manage('POST', '/blueprintfields', rule)
  for (const age of [-1, 'old', [1]]) {
    const refused = await call(fixture, 'POST', uri, { age })
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('age') } })
  }
  expect(await fixture.documents(uri)).toEqual([])
  expect((await call(fixture, 'POST', uri, { age: 0 })).status).toBe(200)
}

const setsOne: Scenario = async (fixture) => {
  const set = setOne('deep.place', '@sent.a')
  const one = await storing(fixture, { sent: fields('@on.body', 'a'), set })
  expect(await one({ a: [1] })).toEqual({ deep: { place: [1] } })
  const before = { first: setOne('first', 'before') }
  const then = { ...setOne('@sent.field', '@sent.a') }
  const chained = { ...then, in: { ...objectOf(then.in), mutations: '@first.mutations' } }
  const both = await storing(fixture, { ...before, sent: fields('@on.body', 'a', 'field'), set: chained })
  expect(await both({ field: 'a', a: null })).toEqual({ first: 'before', a: null })
  expect(await both({ field: 'first', a: 'later' }), 'one after the other').toEqual({ first: 'later' })
  expect(await both({ field: 'a' }), 'an empty one changes nothing').toEqual({ first: 'before' })
  for (const field of ['a..b', '_meta.guid', '', null])
    expect([field, await both({ field, a: 1 })]).toEqual([field, 400])
  const blocks = {
    ...writing('function_create_document_from_mutations', { mutations: '@set.mutations' }),
    set: setOne('a', 1),
  }
  await needs(fixture, blocks, 'set', 'field')
}

const adding = (pins: JsonObject) => ({ type: 'mutations_increment_by_field', in: pins })

const counts =
  (amount: number): Scenario =>
  async (fixture) => {
    const set = adding({ field: 'n', amount })
    const pins = { mutations: '@set.mutations' }
    const { one, run, left } = await onOne(fixture, 'function_update_document_mutations', { set }, pins)
    const answers = await Promise.all(Array.from({ length: 20 }, () => run(guidOf(one))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(new Set(answers.map(({ body }) => objectOf(body).n)).size).toBe(20)
    expect(await left()).toEqual([1 + 20 * amount, 2].sort())
  }

const increments: Scenario = async (fixture) => {
  await counts(2)(fixture)
  await counts(-2)(fixture)
  await countsFromNothing(fixture)
  const twice = {
    first: adding({ field: 'n' }),
    set: adding({ mutations: '@first.mutations', field: 'deep.n', amount: 5 }),
  }
  expect(await (await storing(fixture, twice))({})).toEqual({ n: 1, deep: { n: 5 } })
  const blocks = {
    ...writing('function_create_document_from_mutations', { mutations: '@set.mutations' }),
    set: adding({ field: 'a' }),
  }
  await needs(fixture, blocks, 'set', 'field')
}

/** A missing field, and null, count from 0; what is no number is refused and stays as it is. */
async function countsFromNothing(fixture: ContractFixture): Promise<void> {
  const more = {
    sent: fields('@on.body', 'field', 'amount'),
    set: adding({ field: '@sent.field', amount: '@sent.amount' }),
  }
  const pins = { mutations: '@set.mutations' }
  const first = { field: 'n' }
  const { run, one, documents } = await onOne(
    fixture,
    'function_update_document_mutations',
    more,
    pins,
    first,
  )
  await fixture.manage('PUT', `${documents}/${guidOf(one)}`, { none: null, text: '5', list: [1] })
  const add = async (body: JsonObject) => {
    const answer = await run(guidOf(one), body)
    return answer.status === 200 ? objectOf(answer.body)[String(body.field)] : answer.status
  }
  expect(await add({ field: 'missing' }), 'by 1 unless it is said').toBe(1)
  expect(await add({ field: 'missing', amount: 2.5 })).toBe(3.5)
  expect(await add({ field: 'none', amount: -1 })).toBe(-1)
  for (const field of ['text', 'list', 'a..b', '_meta.cms', ''])
    expect([field, await add({ field })]).toEqual([field, 400])
  expect(await add({ field: 'missing', amount: 'many' })).toBe(400)
  const [after] = await found(fixture, `${documents}/search`, { filters: { '_meta.guid': guidOf(one) } })
  expect(after).toMatchObject({ text: '5', list: [1], missing: 3.5, none: -1 })
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
