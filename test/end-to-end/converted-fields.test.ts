/** A field gets another type or other choices while documents have values: they are converted by a job, and what does not fit is listed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let name: string
let path: string
let count = 0
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_TIME_ZONE: 'Europe/Riga' })
})
afterAll(() => fixture.close())
beforeEach(async () => {
  name = `converted-${count++}`
  const made = await fixture.manage('POST', '/_system/storages', { name })
  path = `/_system/storages/${guidOf(made)}/documents`
})

const add = async (fields: JsonObject) => guidOf(await fixture.manage('POST', path, fields))
const values = async (key = 'f') => (await fixture.documents(name)).map((document) => document[key])
const field = async (body: JsonObject) =>
  guidOf(await fixture.manage('POST', '/blueprintfields', { name: 'f', storage: name, ...body }))
const ask =
  (way: '' | '/check') =>
  (guid: string, body: JsonObject, as = 'admin') =>
    fixture.send(way === '' ? 'PUT' : 'POST', `/blueprintfields/${guid}${way}`, { as, body })
const [change, check] = [ask(''), ask('/check')]
const record = async (guid: string) => objectOf(await fixture.manage('GET', `/blueprintfields/${guid}`))

describe('values that fit are converted', () => {
  test.each<[string, JsonObject, JsonObject, readonly JsonValue[], readonly JsonValue[]]>([
    [
      'text to number',
      { type: 'string' },
      { type: 'number' },
      ['12', '7.5', '', null],
      [12, 7.5, null, null],
    ],
    ['number to text', { type: 'number' }, { type: 'string' }, [12, 0.1], ['12', '0.1']],
    [
      'text to decimal, without the loss of a digit',
      { type: 'string' },
      { type: 'decimal', validation_rules: { places: 2 } },
      ['0.10', '1234567890.12'],
      [0.1, 1234567890.12],
    ],
    ['text to day', { type: 'string' }, { type: 'day' }, ['31.01.2026'], ['2026-01-31']],
    [
      'day to instant in the time zone',
      { type: 'day' },
      { type: 'instant' },
      ['2026-01-31'],
      ['2026-01-30T22:00:00.000Z'],
    ],
    ['text to condition', { type: 'string' }, { type: 'boolean' }, ['yes', 'no'], [true, false]],
    [
      'one to several',
      { type: 'choice', validation_rules: { choices: ['a', 'b'] } },
      { type: 'choices' },
      ['a', 'b'],
      [['a'], ['b']],
    ],
    [
      'a choice to its new name',
      { type: 'choice', validation_rules: { choices: ['open', 'done'] } },
      { validation_rules: { choices: ['opened', 'done'] }, renamed_values: [{ from: 'open', to: 'opened' }] },
      ['open', 'done'],
      ['opened', 'done'],
    ],
  ])('%s', async (_what, before, after, stored, converted) => {
    const guid = await field(before)
    for (const f of stored) await add({ f })
    const { renamed_values: _values, ...said } = after
    expect((await check(guid, after)).body).toMatchObject({ misfits: { total: 0, documents: [] } })
    expect(await values()).toEqual(stored)
    expect(await change(guid, after)).toMatchObject({ status: 200, body: { ...said, migration: null } })
    expect(await values()).toEqual(converted)
  })
})

describe('values that do not fit', () => {
  let guid: string
  let wrong: string
  beforeEach(async () => {
    guid = await field({ type: 'string' })
    await add({ f: '12' })
    wrong = await add({ f: 'about 12' })
  })

  test('are listed, and nothing changes', async () => {
    const listed = { total: 1, documents: [{ guid: wrong, value: 'about 12', problem: 'must be a number' }] }
    expect((await check(guid, { type: 'number' })).body).toMatchObject({
      documents: 2,
      converted: 1,
      misfits: listed,
    })
    expect(await change(guid, { type: 'number' })).toMatchObject({
      status: 409,
      body: { error: 'CONFLICT', fields: ['type'], details: listed },
    })
    expect([await values(), (await record(guid)).type]).toEqual([['12', 'about 12'], 'string'])
  })

  test.each<[string, JsonObject, JsonValue, JsonValue | undefined]>([
    ['become nothing', {}, null, undefined],
    ['become a given value', { value: 0 }, 0, undefined],
    ['are kept in another field', { keep_in: 'f_text' }, null, 'about 12'],
  ])('%s where the change says so', async (_what, misfits, value, kept) => {
    const reply = await change(guid, { type: 'number', misfits })
    expect(reply).toMatchObject({ status: 200, body: { type: 'number', migration: null } })
    expect([await values(), await values('f_text')]).toEqual([
      [12, value],
      [undefined, kept],
    ])
  })

  test.each<[string, JsonObject, string]>([
    ['a value that does not fit either', { type: 'number', misfits: { value: 'x' } }, 'misfits.value'],
    ['the field itself', { type: 'number', misfits: { keep_in: 'f' } }, 'misfits.keep_in'],
    [
      'a choice that stays one',
      {
        type: 'choice',
        validation_rules: { choices: ['12', '13'] },
        renamed_values: [{ from: '12', to: '13' }],
      },
      'renamed_values.0.from',
    ],
    [
      'a name that is no choice',
      {
        type: 'choice',
        validation_rules: { choices: ['12'] },
        renamed_values: [{ from: 'about 12', to: 'x' }],
      },
      'renamed_values.0.to',
    ],
  ])('are not replaced by %s', async (_what, body, named) => {
    const reply = await change(guid, body)
    expect([reply.status, objectOf(reply.body).fields]).toEqual([400, [named]])
    expect(await values()).toEqual(['12', 'about 12'])
  })

  test('do not go into a field that has values', async () => {
    await add({ f: '1', note: 'mine' })
    const reply = await change(guid, { type: 'number', misfits: { keep_in: 'note' } })
    expect([reply.status, objectOf(reply.body).fields]).toEqual([409, ['misfits.keep_in']])
  })

  test('can be said of narrower rules too', async () => {
    const narrow = { validation_rules: { max_length: 3 } }
    expect((await check(guid, narrow)).body).toMatchObject({
      misfits: { total: 1, documents: [{ guid: wrong }] },
    })
    expect((await change(guid, narrow)).status).toBe(409)
    expect((await change(guid, { ...narrow, misfits: {} })).status).toBe(200)
    expect(await values()).toEqual(['12', null])
  })

  test('are shown to those alone who see the document and the field', async () => {
    const hidden = { visible_to: 'contains(user.scopes, "hr")' }
    await fixture.manage('PUT', `/blueprintfields/${guid}`, hidden)
    await fixture.addUser(`${name}-user`, [
      'blueprintfields_view',
      'blueprintfields_update',
      'storages_update',
      'storages_view',
    ])
    for (const ask of [check, change]) {
      const reply = await ask(guid, { type: 'number' }, `${name}-user`)
      expect(reply.text).toContain(wrong)
      expect(reply.text).not.toContain('about 12')
    }
    expect((await check(guid, { type: 'number' })).text).toContain('about 12')
    await fixture.manage('PUT', `/blueprintfields/${guid}`, { visible_to: null })
    await fixture.addUser(`${name}-blind`, ['blueprintfields_view'])
    expect((await check(guid, { type: 'number' }, `${name}-blind`)).text).not.toContain('about 12')
  })

  test('need the scope to change documents, as all that is converted', async () => {
    await fixture.addUser(`${name}-user`, ['blueprintfields_view', 'blueprintfields_update'])
    expect((await change(guid, { type: 'number', misfits: {} }, `${name}-user`)).status).toBe(403)
    expect(await values()).toEqual(['12', 'about 12'])
  })
})

test('values that become the same in a unique field are named, and the others are converted', async () => {
  const guid = await field({ type: 'string', unique: true })
  await add({ f: '12' })
  const same = await add({ f: '12.0' })
  const reply = await change(guid, { type: 'number' })
  expect(reply).toMatchObject({
    status: 200,
    body: { type: 'number', migration: { step: 'convert', stopped: true } },
  })
  const { job } = objectOf(objectOf(reply.body).migration)
  expect(await fixture.manage('GET', `/queue/${String(job)}`)).toMatchObject({
    progress: { refused: 1, problems: [{ guid: same }] },
  })
  expect(await values()).toEqual([12, '12.0'])
  await fixture.manage('PUT', `${path}/${same}`, { f: 13 })
  expect((await change(guid, { type: 'number' })).body).toMatchObject({ migration: null })
  expect(await values()).toEqual([12, 13])
})

test('a write while values are converted converts the document, and the new rule counts', async () => {
  const guid = await field({ type: 'string' })
  const one = await add({ f: '12' })
  await fixture.manage('PUT', '/queues/default', { paused: true })
  const reply = await change(guid, { type: 'number' })
  expect(reply.body).toMatchObject({ type: 'number', migration: { step: 'convert', documents: 1 } })
  expect(await values()).toEqual(['12'])
  await fixture.manage('PUT', `${path}/${one}`, { other: 1 })
  expect(await values()).toEqual([12])
  expect((await fixture.send('POST', path, { as: 'admin', body: { f: 'x' } })).status).toBe(400)
  await fixture.manage('PUT', '/queues/default', { paused: false })
  await expect.poll(async () => (await record(guid)).migration, { timeout: 20_000, interval: 20 }).toBe(null)
})
