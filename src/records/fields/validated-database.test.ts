import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { createField, type FieldInput, removeField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestDatabase
let database: Database
beforeEach(async () => {
  fixture = await openTestDatabase()
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random: (bytes) => void bytes.fill(7),
  })
  await database.ensure('tasks')
  await database.ensure('notes')
})
afterEach(() => fixture.close())

const field = (input: FieldInput) => createField(database, input, by)
const create = (fields: JsonObject, name = 'tasks') =>
  transact(database, async (session) => documentOf(await session.create(name, setFields(fields))))
const change = (guid: string, mutations: readonly Mutation[]) =>
  transact(database, (session) => session.update('tasks', guid, mutations))
const read = async (guid: string) => {
  const stored = await fixture.database.session().get('tasks', guid)
  return stored && documentOf(stored)
}
const count = (name: string) => fixture.database.session().count(name, matchAll)
const refusal = (name: string) => ({ code: 'INVALID_BODY', fields: [name] })

describe('without fields', () => {
  test('the sessions are the storage’s own', async () => {
    await create({ anything: [1] })
    const session = database.session()
    expect(session.constructor).toBe(fixture.database.session().constructor)
  })
})

test('what is taken out of a required object is held against the object as it will be', async () => {
  await field({ name: 'box', type: 'object', storage: 'tasks', required: true })
  const guid = guidOf(await create({ box: { a: 1, b: 2 } }))
  await change(guid, [{ op: 'remove', field: 'box.a' }])
  expect(await read(guid)).toMatchObject({ box: { b: 2 } })
  await expect(change(guid, [{ op: 'remove', field: 'box.b' }])).rejects.toMatchObject(refusal('box'))
})

test('the patterns of a document have one budget together, and each document of many has its own', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const name of names)
    await field({
      name,
      type: 'long_text',
      storage: 'tasks',
      validation_rules: { pattern: hardPattern(85) },
    })
  const documentOfSome = (...some: string[]) =>
    Object.fromEntries(some.map((name) => [name, `${lettersInDisorder(3_000)}${'a'.repeat(86)}`]))
  const made = await create(documentOfSome('a'))
  const refused = { code: 'INVALID_BODY', message: expect.stringContaining('is too long to be held against') }
  await expect(create(documentOfSome(...names))).rejects.toMatchObject(refused)
  await expect(change(guidOf(made), setFields(documentOfSome(...names)))).rejects.toMatchObject(refused)
  const many = names.map((name) => ({ mutations: setFields(documentOfSome('a', name)) }))
  const created = await transact(database, (session) => createAll(session, 'tasks', many))
  expect([created.documents.length, created.refused]).toEqual([6, undefined])
})

describe('a new document', () => {
  test.each([
    ['without a required field', {}, 'title'],
    ['with an empty one', { title: ' ' }, 'title'],
    ['with a wrong type', { title: 'a', priority: '5' }, 'priority'],
    ['with a nested field that breaks its rule', { title: 'a', owner: { mail: 'nobody' } }, 'owner.mail'],
    ['with one below what is no object', { title: 'a', 'priority.x': 1 }, 'priority'],
  ])('%s is refused and not stored', async (_what, fields, name) => {
    await field({ name: 'title', type: 'string', storage: 'tasks', required: true })
    await field({ name: 'priority', type: 'number', storage: 'tasks' })
    await field({
      name: 'owner.mail',
      type: 'string',
      storage: 'tasks',
      validation_rules: { pattern: '^[^@]+@[^@]+$' },
    })
    await expect(create(fields)).rejects.toMatchObject(refusal(name))
    expect(await count('tasks')).toBe(0)
    // Another storage has no such field.
    if (!('priority.x' in fields)) expect(await create(fields, 'notes')).toMatchObject(fields)
  })

  test('gets the defaults of what it does not say, which count for required', async () => {
    await field({ name: 'status', type: 'string', storage: 'tasks', required: true, default_value: 'open' })
    await field({ name: 'meta.tries', type: 'number', storage: 'tasks', default_value: 0 })
    expect(await create({})).toMatchObject({ status: 'open', meta: { tries: 0 } })
    expect(await create({ status: 'done', meta: { a: 1 } })).toMatchObject({
      status: 'done',
      meta: { a: 1, tries: 0 },
    })
    await expect(create({ status: '' })).rejects.toMatchObject(refusal('status'))
    expect(await create({}, 'notes')).not.toHaveProperty('status')
  })

  test('a field of all storages counts where it is written; the storage’s own goes before it', async () => {
    await field({ name: 'size', type: 'number', required: true })
    await field({ name: 'size', type: 'string', storage: 'notes' })
    expect(await create({})).not.toHaveProperty('size')
    await expect(create({ size: 'L' })).rejects.toMatchObject(refusal('size'))
    await expect(create({ size: null })).rejects.toMatchObject(refusal('size'))
    expect(await create({ size: 'L' }, 'notes')).toMatchObject({ size: 'L' })
  })

  test('rules count at once, and no longer when their field is gone', async () => {
    const made = await field({ name: 'n', type: 'number', storage: 'tasks' })
    await expect(create({ n: 'text' })).rejects.toMatchObject(refusal('n'))
    await removeField(database, guidOf(made), by)
    expect(await create({ n: 'text' })).toMatchObject({ n: 'text' })
  })
})

describe('a change', () => {
  let guid: string
  beforeEach(async () => {
    await field({ name: 'title', type: 'string', storage: 'tasks', required: true })
    await field({ name: 'stock', type: 'number', storage: 'tasks', validation_rules: { min: 0, max: 10 } })
    await field({ name: 'owner', type: 'object', storage: 'tasks' })
    await field({ name: 'owner.age', type: 'number', storage: 'tasks' })
    guid = guidOf(await create({ title: 'a', stock: 3, owner: { age: 4 } }))
  })

  test.each<[string, Mutation[], string]>([
    ['a required field emptied', [{ op: 'set', field: 'title', value: '' }], 'title'],
    ['a required field taken away', [{ op: 'remove', field: 'title' }], 'title'],
    ['a value out of range', [{ op: 'set', field: 'stock', value: 11 }], 'stock'],
    ['an increment out of range', [{ op: 'increment', field: 'stock', amount: -4 }], 'stock'],
    [
      'set and incremented',
      [
        { op: 'set', field: 'stock', value: 10 },
        { op: 'increment', field: 'stock', amount: 1 },
      ],
      'stock',
    ],
    ['an object replaced', [{ op: 'set', field: 'owner', value: 5 }], 'owner'],
    ['a nested value', [{ op: 'set', field: 'owner.age', value: 'x' }], 'owner.age'],
    ['a nested value in its object', [{ op: 'set', field: 'owner', value: { age: 'x' } }], 'owner.age'],
  ])('%s is refused and nothing changes', async (_what, mutations, name) => {
    const other: Mutation = { op: 'set', field: 'note', value: 'with it' }
    await expect(change(guid, [other, ...mutations])).rejects.toMatchObject(refusal(name))
    const { _meta, ...fields } = (await read(guid)) ?? {}
    expect(fields).toEqual({ title: 'a', stock: 3, owner: { age: 4 } })
  })

  test('leaves what it does not write unasked', async () => {
    await field({ name: 'late', type: 'string', storage: 'tasks', required: true })
    await change(guid, [
      { op: 'increment', field: 'stock', amount: -3 },
      { op: 'set', field: 'owner.name', value: 'Ann' },
      { op: 'remove', field: 'owner.age' },
    ])
    expect(await read(guid)).toMatchObject({ title: 'a', stock: 0, owner: { name: 'Ann' } })
  })

  test('an increment that is refused is not in the transaction that goes on', async () => {
    const session = database.session()
    await session.update('tasks', guid, [{ op: 'increment', field: 'seen', amount: 1 }])
    const over: Mutation[] = [
      { op: 'increment', field: 'stock', amount: 99 },
      { op: 'set', field: 'new', value: 1 },
    ]
    await expect(async () => session.update('tasks', guid, over)).rejects.toMatchObject(refusal('stock'))
    await session.transaction.commit()
    const document = await read(guid)
    expect(document).toMatchObject({ stock: 3, seen: 1 })
    expect(document).not.toHaveProperty('new')
  })

  test('of many increments at once exactly those that fit happen', async () => {
    const take: Mutation[] = [{ op: 'increment', field: 'stock', amount: -1 }]
    const taken = await Promise.allSettled(Array.from({ length: 10 }, () => change(guid, take)))
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await read(guid)).toMatchObject({ stock: 0 })
  })

  test('of an unknown or stale document is not found or a conflict, as without rules', async () => {
    const session = database.session()
    const more: Mutation[] = [{ op: 'increment', field: 'stock', amount: 1 }]
    expect((await session.update('tasks', 'none', more)).outcome).toBe('not_found')
    expect((await session.update('tasks', guid, more, { updateHash: 'old' })).outcome).toBe('conflict')
    await session.transaction.rollback()
    const found = await database.session().find('tasks', search({}))
    expect(found.length).toBe(1)
  })
})
