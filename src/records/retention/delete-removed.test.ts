import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { ValidatedDatabase } from '../../storage/validated.ts'
import { openDocumentHistory } from '../documents/document-history.ts'
import { createField } from '../fields/field-records.ts'
import { openFieldRules } from '../fields/field-rules.ts'
import { validatedDatabase } from '../fields/validated-database.ts'
import { openRetention, type RetentionParts } from './retention.ts'

const DAY = 86_400
const by = { guid: 'u', username: 'ann' }

let fixture: TestDatabase
let database: ValidatedDatabase
let said: { readonly level: string; readonly message: string }[] = []
beforeEach(async () => {
  said = []
  fixture = await openTestDatabase()
  const rules = await openFieldRules(fixture.database)
  database = validatedDatabase(fixture.database, rules, { clock: fixture.clock, random: () => undefined })
  await database.ensure('tasks')
  await database.ensure('notes')
})
afterEach(() => fixture.close())

const open = (more: Partial<RetentionParts> = {}) =>
  openRetention({
    ...{ database, clock: fixture.clock, leads: async () => true },
    log: { write: (entry) => void said.push(entry) },
    retainedFor: () => ({ logs: 0, runs: 0, history: 0, removed: 30 * DAY }),
    // Looks are those of the tests alone: one of its own would take documents from them where a test takes a minute.
    every: DAY * 1000,
    ...more,
  })
const pass = (seconds: number) => {
  fixture.clock.now += seconds * 1000
}
const left = (storage = 'tasks') => fixture.database.session().count(storage, matchAll, true)
const present = () => fixture.database.session().count('tasks', matchAll)
const indexes = () => fixture.database.capabilities.indexes.of('tasks').indexes
const messages = () => said.map(({ level, message }) => `${level}: ${message}`)

async function create(storage: string, count: number, fields: JsonObject = {}): Promise<string[]> {
  return transact(database, async (session) => {
    const guids: string[] = []
    for (let n = 0; n < count; n += 1)
      guids.push(guidOf(documentOf(await session.create(storage, setFields({ n, ...fields })))))
    return guids
  })
}
const setRemoved = (storage: string, guids: readonly string[], removed = true) =>
  transact(database, async (session) => {
    for (const one of guids) await session.setRemoved(storage, one, removed)
  })

test('off by default: nothing is deleted, and no index made', async () => {
  await setRemoved('tasks', await create('tasks', 3))
  pass(1000 * DAY)
  const retention = open({ retainedFor: () => ({ logs: 1, runs: 1, history: 1, removed: 0 }) })
  expect(await retention.run()).toBe(0)
  expect([await left(), indexes()]).toEqual([3, []])
  await retention.close()
})

test('1,000 removed documents go at their age, those removed later, restored or present stay', async () => {
  const old = await create('tasks', 1_001)
  await create('tasks', 150)
  const [restored = '', ...gone] = old
  await setRemoved('tasks', old)
  await setRemoved('tasks', [restored], false)
  pass(10 * DAY)
  const later = await create('tasks', 120)
  await setRemoved('tasks', later)
  const retention = open()
  pass(20 * DAY - 1)
  expect(await retention.run()).toBe(0)
  pass(1)
  expect(await retention.run()).toBe(gone.length)
  expect([await left(), await present()]).toEqual([271, 151])
  expect(messages()).toEqual(['info: 1,000 removed documents of the storage tasks permanently deleted.'])
  pass(10 * DAY)
  expect(await retention.run()).toBe(120)
  expect([await left(), await present()]).toEqual([151, 151])
  expect(indexes()).toEqual([{ fields: ['_meta.removed'], unique: false }])
  await retention.close()
})

test('one that is restored while its batch is deleted stays', async () => {
  const guids = await create('tasks', 5)
  await setRemoved('tasks', guids)
  pass(31 * DAY)
  const end = fixture.database.observe('tasks', async (session, { kind, guid }) => {
    const [other = ''] = guids.filter((one) => one !== guid).slice(-1)
    if (kind === 'deleted') await session.setRemoved('tasks', other, false)
  })
  const retention = open()
  expect(await retention.run()).toBe(4)
  expect([await left(), await present()]).toEqual([1, 1])
  end()
  await retention.close()
})

test('what a reference keeps from being removed is not deleted; without the one that refers both go', async () => {
  const reference = { storage: 'tasks', on_delete: 'refuse' }
  await createField(database, { name: 'task', type: 'string', storage: 'notes', reference }, by)
  const [task = ''] = await create('tasks', 1)
  const notes = await create('notes', 1, { task })
  await expect(setRemoved('tasks', [task])).rejects.toMatchObject({ code: 'CONFLICT' })
  pass(31 * DAY)
  const retention = open()
  expect(await retention.run()).toBe(0)
  await setRemoved('notes', notes)
  await setRemoved('tasks', [task])
  pass(30 * DAY)
  expect(await retention.run()).toBe(2)
  expect([await left(), await left('notes')]).toEqual([0, 0])
  await retention.close()
})

test('the history says what was deleted, and records of Quoin itself stay', async () => {
  for (const name of [systemStorages.storages, systemStorages.templates]) await database.ensure(name)
  await transact(database, (session) =>
    session.create(systemStorages.storages, setFields({ name: 'tasks', history: true })),
  )
  const history = await openDocumentHistory(database)
  const [record = ''] = await create(systemStorages.templates, 1)
  const [task = ''] = await create('tasks', 1)
  await setRemoved('tasks', [task])
  await setRemoved(systemStorages.templates, [record])
  pass(31 * DAY)
  const retention = open()
  expect(await retention.run()).toBe(1)
  const { records } = await history.of('tasks', task, { limit: 10, offset: 0 })
  expect(records.map(({ action }) => action)).toEqual(['deleted', 'removed', 'created'])
  expect(await left(systemStorages.templates)).toBe(1)
  history.close()
  await retention.close()
})

test('a storage where it fails is named, and the others are gone through', async () => {
  for (const name of ['notes', 'tasks']) await setRemoved(name, await create(name, 2))
  pass(31 * DAY)
  const end = fixture.database.observe('notes', () => {
    throw new Error('not now')
  })
  const retention = open()
  expect(await retention.run()).toBe(2)
  expect(messages().toSorted()).toEqual([
    'error: Removed documents of notes could not be deleted: not now',
    'info: 2 removed documents of the storage tasks permanently deleted.',
  ])
  end()
  expect(await retention.run()).toBe(2)
  await retention.close()
})

test('only the node that leads does it', async () => {
  await setRemoved('tasks', await create('tasks', 1))
  pass(31 * DAY)
  const retention = open({ leads: async () => false })
  expect(await retention.run()).toBe(0)
  expect(await left()).toBe(1)
  await retention.close()
})
