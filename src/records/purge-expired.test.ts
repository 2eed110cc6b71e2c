import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, search } from '../shared/query.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { createField } from './fields/field-records.ts'
import { openFieldRules } from './fields/field-rules.ts'
import { validatedDatabase } from './fields/validated-database.ts'
import { type ExpiryPurge, openExpiryPurge } from './purge-expired.ts'
import { openSystemLog, type SystemLog } from './system-log.ts'

let fixture: TestDatabase
let log: SystemLog
let purge: ExpiryPurge

beforeEach(async () => {
  fixture = await openTestDatabase()
  log = await openSystemLog(fixture.database)
  purge = openExpiryPurge({ database: fixture.database, clock: fixture.clock, log })
  await fixture.database.ensure('tasks')
  await fixture.database.ensure('_kept')
})
afterEach(async () => {
  await purge.close()
  await log.close()
  await fixture.close()
})

const now = () => Math.floor(fixture.clock() / 1000)

async function create(name: string, count: number, expiry: number): Promise<void> {
  await transact(fixture.database, async (session) => {
    for (let n = 0; n < count; n++) await session.create(name, setFields({ n }), { expiry })
  })
}

it('deletes what has expired, removed or not, in batches, and nothing else', async () => {
  await create('tasks', 250, now() + 10)
  await create('tasks', 3, now() + 11)
  await create('tasks', 5, -1)
  await create('_kept', 2, now() - 1)
  const session = fixture.database.session()
  const [some] = Object.values(JSON.parse((await session.find('tasks', search({ limit: 1 }))).documents.text))
  expect(some).toMatchObject({ _meta: { expiry: -1 } })
  expect(await purge.run()).toBe(0)
  fixture.clock.now += 10_000
  const first = JSON.parse(
    (
      await session.find(
        'tasks',
        search({ query: { kind: 'term', field: '_meta.expiry', value: now() }, limit: 1 }),
      )
    ).documents.text,
  )
  await transact(fixture.database, (writing) => writing.setRemoved('tasks', first[0]._meta.guid, true))
  const deleting = purge.run()
  expect(purge.isRunning()).toBe(true)
  expect(await deleting).toBe(250)
  expect(purge.isRunning()).toBe(false)
  expect(await session.count('tasks', matchAll, true)).toBe(8)
  expect(await session.count('_kept', matchAll)).toBe(2)
  fixture.clock.now += 1_000
  expect(await purge.run()).toBe(3)
  expect(await purge.run()).toBe(0)
  await log.flush()
  const logged = JSON.parse((await session.find(systemStorages.systemLogs, search())).documents.text)
  expect(logged.map(({ message }: { message: string }) => message)).toEqual([
    '3 expired documents of the storage tasks deleted.',
    '250 expired documents of the storage tasks deleted.',
  ])
})

it('says what went wrong and goes on with the other storages', async () => {
  await fixture.database.ensure('notes')
  await create('tasks', 1, now() - 1)
  await create('notes', 1, now() - 1)
  const end = fixture.database.observe('tasks', () => {
    throw new Error('not now')
  })
  expect(await purge.run()).toBe(1)
  end()
  expect(await fixture.database.session().count('tasks', matchAll)).toBe(1)
  expect(await purge.run()).toBe(1)
  await log.flush()
  const requested = search({ query: { kind: 'term', field: 'level', value: 'error' } })
  const { documents } = await fixture.database.session().find(systemStorages.systemLogs, requested)
  expect(documents.text).toContain('tasks could not be deleted')
})

it('runs by itself, and no more when it is closed', async () => {
  await create('tasks', 1, now() - 1)
  const often = openExpiryPurge({ database: fixture.database, clock: fixture.clock, log, every: 1 })
  await expect.poll(() => fixture.database.session().count('tasks', matchAll)).toBe(0)
  await often.close()
  await create('tasks', 1, now() - 1)
  expect(await often.run()).toBe(0)
  expect(await fixture.database.session().count('tasks', matchAll)).toBe(1)
})

it('leaves a document whose referrers cannot be changed, with all of them, and deletes those around it', async () => {
  const world = { clock: fixture.clock, random: () => undefined }
  const database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), world)
  await database.ensure('notes')
  const by = { guid: 'u', username: 'ann' }
  const reference = { storage: 'tasks', on_delete: 'clear' }
  await createField(database, { name: 'task', type: 'string', storage: 'notes', reference }, by)
  await createField(database, { name: 'twice', type: 'number', storage: 'notes', computed: 'doc.n * 2' }, by)
  await create('tasks', 3, now() - 1)
  const tasks = await findAll(fixture.database.session(), 'tasks', matchAll, 3)
  const task = guidOf(tasks[1] ?? {})
  // In whatever order they are cleared, one that can be comes before the older one that cannot.
  for (const n of [1, 'older', 2])
    await transact(fixture.database, (session) => session.create('notes', setFields({ n, task })))
  const validated = openExpiryPurge({ database, clock: fixture.clock, log })
  expect(await validated.run()).toBe(2)
  await validated.close()
  expect(await fixture.database.session().get('tasks', task)).toBeDefined()
  const notes = await findAll(fixture.database.session(), 'notes', matchAll, 3)
  expect(notes.map((note) => note.task)).toEqual([task, task, task])
})

it('leaves a document that others refer to, deletes those behind it, and it when they are gone', async () => {
  const rules = await openFieldRules(fixture.database)
  const database = validatedDatabase(fixture.database, rules, {
    clock: fixture.clock,
    random: () => undefined,
  })
  await database.ensure('notes')
  const reference = { storage: 'tasks', on_delete: 'refuse' }
  const by = { guid: 'u', username: 'ann' }
  await createField(database, { name: 'task', type: 'string', storage: 'notes', reference }, by)
  await create('tasks', 150, now() - 1)
  const [first] = await findAll(fixture.database.session(), 'tasks', matchAll, 1, [
    { field: '_meta.guid', order: 'asc', missing: 'last' },
  ])
  const guid = guidOf(first ?? {})
  await transact(database, (session) => session.create('notes', setFields({ task: guid })))
  const validated = openExpiryPurge({ database, clock: fixture.clock, log })
  expect(await validated.run()).toBe(149)
  expect(await fixture.database.session().get('tasks', guid)).toBeDefined()
  const notes = await findAll(fixture.database.session(), 'notes', matchAll, 1)
  for (const note of notes) await transact(database, (session) => session.delete('notes', guidOf(note)))
  expect(await validated.run()).toBe(1)
  await validated.close()
})
