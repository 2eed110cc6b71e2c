import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTemporaryStorage, type TemporaryStorage } from '../../test/temporary-storage.ts'
import { setFields } from '../shared/mutation.ts'
import { guidOf } from '../storage/document-fields.ts'
import { documentOf, type Session, type Storage } from '../storage/storage.ts'
import { transact } from '../storage/transact.ts'
import { announcedStorage } from './announced-storage.ts'

let room: TemporaryStorage
let storage: Storage
let told: [string, readonly string[] | null][]
/** What a commit waits for. */
let obeyed: Promise<void> | undefined

beforeEach(async () => {
  room = await openTemporaryStorage()
  told = []
  obeyed = undefined
  storage = announcedStorage(room.storage, {
    cluster: { self: 'w', alive: () => true, tell: async () => undefined, nodes: async () => [] },
    tell: (name, guids) => {
      told.push([name, guids])
      return obeyed
    },
  })
  for (const name of ['rules', 'notes']) await storage.ensure(name)
})
afterEach(() => room.close())

const create = (session: Session, name: string) => session.create(name, setFields({ a: 1 }))

test('a write to what nobody watches is told to nobody', async () => {
  const end = storage.watch('rules', () => undefined)
  await transact(storage, (session) => create(session, 'notes'))
  end()
  await transact(storage, (session) => create(session, 'rules'))
  expect(told).toEqual([])
})

test('what was undone is told to nobody', async () => {
  storage.watch('rules', () => undefined)
  const session = storage.session()
  await create(session, 'rules')
  await session.rollback()
  await session.commit()
  await create(session, 'notes')
  await session.commit()
  expect(told).toEqual([])
})

test('each kind of write to a watched storage is told once, after its commit', async () => {
  storage.watch('rules', () => undefined)
  // Watched twice, told once.
  const end = storage.watch('rules', () => undefined)
  const session = storage.session()
  const guid = guidOf(documentOf(await create(session, 'rules')))
  expect(told).toEqual([])
  await session.commit()
  await session.update('rules', guid, setFields({ a: 2 }))
  await session.remove('rules', guid)
  await session.commit()
  end()
  await session.restore('rules', guid)
  await session.delete('rules', guid)
  await session.commit()
  expect(told).toEqual([
    ['rules', [guid]],
    ['rules', [guid, guid]],
    ['rules', [guid, guid]],
  ])
})

test('the commit is over when those who were told have obeyed, and is durable before', async () => {
  storage.watch('rules', () => undefined)
  const { promise, resolve } = Promise.withResolvers<void>()
  obeyed = promise
  const session = storage.session()
  const guid = guidOf(documentOf(await create(session, 'rules')))
  let over = false
  const committed = Promise.resolve(session.commit()).then(() => {
    over = true
  })
  while (told.length === 0) await new Promise((turn) => setImmediate(turn))
  expect([over, (await room.storage.session().get('rules', guid)) !== undefined]).toEqual([false, true])
  resolve()
  await committed
  expect(over).toBe(true)
})

test('what an observer writes along is told too, through the session that the writer holds', async () => {
  storage.watch('rules', () => undefined)
  const sessions = new Set<Session>()
  storage.observe('notes', (session) => {
    sessions.add(session)
    return Promise.resolve(create(session, 'rules')).then(() => undefined)
  })
  const session = storage.session({ run: 'r' })
  await create(session, 'notes')
  await session.commit()
  expect([...sessions]).toEqual([session])
  expect(session.origin).toEqual({ run: 'r' })
  expect(told).toMatchObject([['rules', [expect.any(String)]]])
})

test('a dropped storage that is watched is to be read anew', async () => {
  storage.watch('rules', () => undefined)
  await storage.drop('notes')
  await storage.drop('rules')
  expect(told).toEqual([['rules', null]])
})
