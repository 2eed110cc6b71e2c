/** A change of many documents locks and reads a page of them at once: what else its session and others do with these documents counts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'

let temporary: TemporaryDatabase
let database: Database

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  database = await openNode(temporary.url)
  await database.ensure('counts')
})
afterAll(async () => {
  await database.close()
  await temporary.drop()
})

const storage = 'counts'
const increment = [{ op: 'increment', field: 'n', amount: 1 }] as const
const create = (text: string) =>
  transact(database, async (session) =>
    guidOf(documentOf(await session.create(storage, setFields({ n: 0, text })))),
  )
const update = async (session: Session, guid: string, following: readonly string[] = []) =>
  (await session.update(storage, guid, increment, { following })).outcome
const count = async (guid: string) => {
  const document = await database.session().get(storage, guid)
  return document && documentOf(document).n
}

test.each<
  readonly [string, string, (session: Session, first: string, second: string) => Promise<unknown>, unknown]
>([
  ['a document that is changed behind the first', 'short', update2, 1],
  ['one that is too long to be held', 'long '.repeat(20_000), update2, 1],
  [
    'one that is changed in between by something else',
    'short',
    async (session, first, second) => {
      await update(session, first, [second])
      await update(session, second)
      await update(session, second)
    },
    2,
  ],
  [
    'one that is deleted in between',
    'short',
    async (session, first, second) => {
      await update(session, first, [second])
      await session.delete(storage, second)
      expect(await update(session, second)).toBe('not_found')
    },
    undefined,
  ],
  [
    'one that is removed and restored in between',
    'short',
    async (session, first, second) => {
      await update(session, first, [second])
      await session.setRemoved(storage, second, true)
      expect(await update(session, second)).toBe('not_found')
      await session.setRemoved(storage, second, false)
      await update(session, second)
    },
    1,
  ],
  [
    'one that is there no longer when the page is locked',
    'short',
    async (session, first, second) => {
      await transact(database, (other) => other.delete(storage, second))
      await update(session, first, [second])
      expect(await update(session, second)).toBe('not_found')
    },
    undefined,
  ],
  [
    'a first one that is refused',
    'short',
    async (session, first, second) => {
      const { outcome } = await session.update(storage, first, increment, {
        ...{ following: [second], allows: () => false },
      })
      expect(outcome).toBe('refused')
      await update(session, second)
    },
    1,
  ],
])('%s', async (_name, text, work, expected) => {
  const [first, second] = [await create('short'), await create(text)]
  await transact(database, (session) => work(session, first, second))
  expect(await count(second)).toBe(expected)
})

async function update2(session: Session, first: string, second: string) {
  await update(session, first, [second])
  expect(await update(session, second)).toBe('written')
}

test('another session changes a document of the page behind the one that has locked it', async () => {
  const [first, second] = [await create('short'), await create('short')]
  const session = database.session()
  await update(session, first, [second])
  const other = transact(database, (one) => update(one, second))
  await update(session, second)
  await session.transaction.commit()
  expect([await other, await count(second)]).toEqual(['written', 2])
})

test('a session that is rolled back forgets what it has locked', async () => {
  const [first, second] = [await create('short'), await create('short')]
  const session = database.session()
  await update(session, first, [second])
  await session.transaction.rollback()
  await transact(database, (other) => update(other, second))
  await update(session, second)
  await session.transaction.commit()
  expect(await count(second)).toBe(2)
})
