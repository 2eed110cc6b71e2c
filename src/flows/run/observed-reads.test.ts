import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, type Query, search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { ObservedReads } from './observed-reads.ts'

let fixture: TestDatabase
let one = ''
const ofKind = (value: string): Query => ({ kind: 'term', field: 'kind', value })

const add = (storage: string, kind: string) =>
  transact(fixture.database, (session) => session.create(storage, setFields({ kind })))

beforeAll(async () => {
  fixture = await openTestDatabase()
  for (const name of ['as', 'bs']) await fixture.database.ensure(name, { indexes: [{ fields: ['kind'] }] })
  one = guidOf(documentOf(await add('as', 'x')))
})
afterAll(() => fixture.close())

/** What was read, and whether a write of this kind to this storage is a change. */
async function changedBy(read: (session: Session) => unknown, write: () => unknown): Promise<boolean> {
  const { readVersions, changes } = fixture.database.capabilities
  const reads = new ObservedReads(changes.version, readVersions.catchUp ? undefined : readVersions)
  const session = reads.session(fixture.database.session())
  await read(session)
  expect(reads.haveChanged).toBe(false)
  await write()
  return reads.haveChanged
}

const reads: readonly (readonly [string, (session: Session) => unknown])[] = [
  ['a document', (session) => session.get('as', one)],
  ['a document that is not there', (session) => session.get('as', 'unknown')],
  ['a page', (session) => session.find('as', search({ query: ofKind('x') }))],
  ['a number of documents', (session) => session.count('as', matchAll)],
  [
    'two storages',
    async (session) => [await session.count('bs', matchAll), await session.count('as', matchAll)],
  ],
]

describe('what may read something else is a change', () => {
  test.each(reads)('%s', async (_name, read) => {
    const written = () =>
      transact(fixture.database, async (session) => {
        await session.update('as', one, setFields({ kind: 'x', n: Math.random() }))
        await session.create('as', setFields({ kind: 'x' }))
      })
    const isUnknown = _name === 'a document that is not there'
    const isExact = fixture.database.capabilities.readVersions.catchUp === undefined
    expect(await changedBy(read, written)).toBe(!(isUnknown && isExact))
  })
})

describe('what reads the same is no change', () => {
  test.each(reads)('%s: another storage', async (_name, read) => {
    await fixture.database.ensure('cs')
    expect(await changedBy(read, () => add('cs', 'x'))).toBe(false)
  })

  test('a page: a document that is not on it, where the process can tell', async () => {
    const read = (session: Session) => session.find('as', search({ query: ofKind('x') }))
    // The first search of its kind is not kept yet.
    await read(fixture.database.session())
    expect(await changedBy(read, () => add('as', 'y'))).toBe(inject('engine') === 'postgres')
  })

  test('nothing read', async () => {
    expect(
      await changedBy(
        () => undefined,
        () => add('as', 'x'),
      ),
    ).toBe(false)
  })
})
