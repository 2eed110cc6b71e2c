import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { setFields } from '../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { transact } from '../storage/transact.ts'
import { announcedDatabase } from './announced-database.ts'

let room: TestDatabase
let database: Database
let told: [string, readonly string[] | null][]
/** What a commit waits for. */
let obeyed: Promise<void> | undefined

beforeEach(async () => {
  room = await openTestDatabase()
  told = []
  obeyed = undefined
  database = announcedDatabase(room.database, {
    cluster: {
      self: 'w',
      alive: () => true,
      tell: async () => undefined,
      send: async () => undefined,
      nodes: async () => [],
    },
    tell: (name, guids) => {
      told.push([name, guids])
      return obeyed
    },
  })
  for (const name of ['rules', 'notes']) await database.ensure(name)
})
afterEach(() => room.close())

const create = (session: Session, name: string) => session.create(name, setFields({ a: 1 }))

test('a write to a storage that no reader watches is not announced', async () => {
  const end = database.capabilities.changes.watch('rules', () => undefined)
  await transact(database, (session) => create(session, 'notes'))
  end()
  await transact(database, (session) => create(session, 'rules'))
  expect(told).toEqual([])
})

test('a rolled back write is not announced', async () => {
  database.capabilities.changes.watch('rules', () => undefined)
  const session = database.session()
  await create(session, 'rules')
  await session.transaction.rollback()
  await session.transaction.commit()
  await create(session, 'notes')
  await session.transaction.commit()
  expect(told).toEqual([])
})

test('each kind of write to a watched storage is told once, after its commit', async () => {
  database.capabilities.changes.watch('rules', () => undefined)
  // Watched twice, told once.
  const end = database.capabilities.changes.watch('rules', () => undefined)
  const session = database.session()
  const guid = guidOf(documentOf(await create(session, 'rules')))
  expect(told).toEqual([])
  await session.transaction.commit()
  await session.update('rules', guid, setFields({ a: 2 }))
  await session.setRemoved('rules', guid, true)
  await session.transaction.commit()
  end()
  await session.setRemoved('rules', guid, false)
  await session.delete('rules', guid)
  await session.transaction.commit()
  expect(told).toEqual([
    ['rules', [guid]],
    ['rules', [guid, guid]],
    ['rules', [guid, guid]],
  ])
})

test('the commit is over when those who were told have obeyed, and is durable before', async () => {
  database.capabilities.changes.watch('rules', () => undefined)
  const { promise, resolve } = Promise.withResolvers<void>()
  obeyed = promise
  const session = database.session()
  const guid = guidOf(documentOf(await create(session, 'rules')))
  let over = false
  const committed = Promise.resolve(session.transaction.commit()).then(() => {
    over = true
  })
  while (told.length === 0) await new Promise((turn) => setImmediate(turn))
  expect([over, (await room.database.session().get('rules', guid)) !== undefined]).toEqual([false, true])
  resolve()
  await committed
  expect(over).toBe(true)
})

test('what an observer writes along is told too, through the session that the writer holds', async () => {
  database.capabilities.changes.watch('rules', () => undefined)
  const sessions = new Set<Session>()
  database.observe('notes', (session) => {
    sessions.add(session)
    return Promise.resolve(create(session, 'rules')).then(() => undefined)
  })
  const session = database.session({ run: 'r' })
  await create(session, 'notes')
  await session.transaction.commit()
  expect([...sessions]).toEqual([session])
  expect(session.origin).toEqual({ run: 'r' })
  expect(told).toMatchObject([['rules', [expect.any(String)]]])
})

test('a dropped storage that is watched is announced as a whole', async () => {
  database.capabilities.changes.watch('rules', () => undefined)
  await database.drop('notes')
  await database.drop('rules')
  expect(told).toEqual([['rules', null]])
})
