import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Search, search } from '../../../shared/query.ts'
import type { Read } from '../../capabilities.ts'
import { documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { WrittenDocuments } from '../../written-documents.ts'

let fixture: TestDatabase
let name = ''
let storages = 0
beforeAll(async () => {
  expect(inject('engine')).toBe('sqlite')
  fixture = await openTestDatabase()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  storages += 1
  name = `things_${storages}`
  await fixture.database.ensure(name)
})

const versionOf = (read?: Read) => fixture.database.capabilities.readVersions?.of(name, read)()
const write = <T>(work: (session: Session) => T | Promise<T>) => transact(fixture.database, work)
const create = (n: number, guid?: string) =>
  write(async (session) =>
    guidOf(documentOf(await session.create(name, setFields({ n }), guid === undefined ? {} : { guid }))),
  )
const other = '01900000-0000-7000-8000-00000000000a'

describe('a document', () => {
  test.each<[string, (session: Session, guid: string) => unknown]>([
    ['an update', (session, guid) => session.update(name, guid, setFields({ n: 2 }))],
    ['a removal', (session, guid) => session.setRemoved(name, guid, true)],
    ['a deletion', (session, guid) => session.delete(name, guid)],
  ])('has another version after %s, once it is committed, and no other document has', async (_, change) => {
    const [guid, neighbour] = [await create(1), await create(1)]
    const versions = () => [versionOf({ guid }), versionOf({ guid: neighbour })]
    const before = versions()
    const session = fixture.database.session()
    await change(session, guid)
    expect(versions()).toEqual(before)
    await session.transaction.rollback()
    expect(versions()).toEqual(before)
    await change(session, guid)
    await session.transaction.commit()
    expect(versions()[0]).not.toBe(before[0])
    expect(versions()[1]).toBe(before[1])
  })

  test('has another version also when it was written before the first request for it, and committed after', async () => {
    const guid = await create(1)
    const session = fixture.database.session()
    await session.update(name, guid, setFields({ n: 2 }))
    const before = versionOf({ guid })
    await session.transaction.commit()
    expect(versionOf({ guid })).not.toBe(before)
  })

  test('that does not exist has another version when it is created or restored, or its storage made again', async () => {
    const seen: unknown[] = []
    const look = () => seen.push(versionOf({ guid: other }))
    look()
    await create(1, other)
    look()
    await write((session) => session.setRemoved(name, other, true))
    look()
    await write((session) => session.setRemoved(name, other, false))
    look()
    await fixture.database.drop(name)
    look()
    expect(seen.at(-1)).toBeUndefined()
    await fixture.database.ensure(name)
    look()
    expect(new Set(seen).size).toBe(6)
  })

  test('keeps its version among thousands of writes to others, until they are too many to be remembered', () => {
    let last = 0
    const written = new WrittenDocuments(() => ++last)
    const version = written.version('one')
    for (let number = 0; number < 5_000; number++) {
      written.written([`other ${number}`])
      expect(written.version('one')).toBe(version)
    }
    const others = new Set([version, written.version('other 1')])
    written.written(['one too many'])
    expect(others).not.toContain(written.version('one'))
    expect(written.version('other 1')).toBe(written.version('one'))
  })
})

describe('a page', () => {
  const ones: Search = search({ query: { kind: 'term', field: 'n', value: 1 } })
  const read: Read = { page: ones }

  test('has no version before it was searched, then itself until a write that may change it', async () => {
    const guid = await create(1)
    const { database } = fixture
    expect(versionOf(read)).toBeUndefined()
    const page = await database.session().find(name, ones)
    expect(versionOf(read)).toBe(page)
    await create(2)
    expect(versionOf(read)).toBe(page)
    const session = database.session()
    await session.update(name, guid, setFields({ n: 2 }))
    await session.transaction.rollback()
    expect(versionOf(read)).toBe(page)
    await create(1)
    expect(versionOf(read)).toBeUndefined()
    const next = await database.session().find(name, ones)
    expect([next.length, versionOf(read) === next]).toEqual([2, true])
  })
})
