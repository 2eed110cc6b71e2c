/** A node knows what others have written once it has asked: never later, and never more than what may have changed. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import type { Read } from '../../capabilities.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { deleteOldChanges, REMEMBERED_MS } from './change-log.ts'

let temporary: TemporaryDatabase
let admin: Client
let reader: Database
let writer: Database
/** How far the clocks of the reader have gone on by themselves. */
let ahead = 0
let name = ''
let table = ''
let names = 0

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  reader = await openNode(temporary.url, { node: 'reader', monotonic: () => performance.now() + ahead })
  writer = await openNode(temporary.url, { node: 'writer', connections: 8 })
})
afterAll(async () => {
  await reader?.close()
  await writer?.close()
  await admin?.end()
  await temporary?.drop()
})

const versionOf = (read?: Read, storage = name) => reader.capabilities.readVersions.of(storage, read)()
const catchUp = async () => expect(await reader.capabilities.readVersions.catchUp?.()).toBe(true)
const create = (n: number, storage = name) =>
  transact(writer, async (session) => guidOf(documentOf(await session.create(storage, setFields({ n })))))

/** Asks for what cannot be kept yet, until the reader can. */
async function recorded(storage: string): Promise<void> {
  await vi.waitFor(
    async () => {
      await reader.capabilities.readVersions.catchUp?.()
      expect(versionOf(undefined, storage)).toBeDefined()
    },
    { timeout: 30_000, interval: 5 },
  )
}

/** What a test that fails leaves open would keep the next ones waiting. */
const others = new Set<Client>()
async function openOther(): Promise<Client> {
  const other = new Client({ connectionString: temporary.url })
  await other.connect()
  others.add(other)
  return other
}
afterEach(async () => {
  for (const other of others) await other.end()
  others.clear()
})

beforeEach(async () => {
  names += 1
  name = `things_${names}`
  await writer.ensure(name)
  const { rows } = await admin.query('SELECT id FROM storage WHERE name = $1', [name])
  table = `doc_${rows[0].id}`
})

describe('writes are noted', () => {
  test('only of storages of which something was often wanted', async () => {
    const triggers = async () => {
      const { rows } = await admin.query('SELECT count(*)::int AS n FROM pg_trigger WHERE tgname = $1', [
        `${table}_noted`,
      ])
      return rows[0].n
    }
    for (let times = 0; times < 9; times++) expect(versionOf()).toBeUndefined()
    await create(1)
    expect(await triggers()).toBe(0)
    await recorded(name)
    expect(await triggers()).toBe(1)
  })

  test('not while a transaction that has written is open, which delays nothing for long', async () => {
    await create(1)
    const other = await openOther()
    await other.query('BEGIN')
    await other.query(`UPDATE ${table} SET version = version`)
    for (let times = 0; times < 20; times++) versionOf()
    await Promise.all(Array.from({ length: 20 }, (_, n) => create(n)))
    expect(versionOf()).toBeUndefined()
    await other.query('COMMIT')
    ahead += 11_000
    await recorded(name)
  })
})

describe('a version', () => {
  let guid = ''
  let neighbour = ''
  beforeEach(async () => {
    ;[guid, neighbour] = [await create(1), await create(2)]
    await recorded(name)
    await catchUp()
  })
  const versions = () => [versionOf({ guid }), versionOf({ guid: neighbour }), versionOf()]

  test('stays while nothing is written, or what is written is undone', async () => {
    const before = versions()
    const session = writer.session()
    await session.update(name, guid, setFields({ n: 2 }))
    await catchUp()
    expect(versions()).toEqual(before)
    await session.transaction.rollback()
    await catchUp()
    expect(versions()).toEqual(before)
  })

  test.each<[string, (session: Session) => unknown]>([
    ['an update', (session) => session.update(name, guid, setFields({ n: 2 }))],
    ['a removal', (session) => session.setRemoved(name, guid, true)],
    ['a deletion', (session) => session.delete(name, guid)],
  ])(
    'changes after %s by another node, once it is asked for, and no other document has',
    async (_, change) => {
      const before = versions()
      await transact(writer, async (session) => change(session))
      await catchUp()
      const after = versions()
      expect(after[0]).not.toBe(before[0])
      expect(after[1]).toBe(before[1])
      expect(after[2]).not.toBe(before[2])
    },
  )

  test('changes for the storage after a new document, and for no document that was there', async () => {
    const before = versions()
    await create(3)
    await catchUp()
    expect(versions().slice(0, 2)).toEqual(before.slice(0, 2))
    expect(versions()[2]).not.toBe(before[2])
  })

  test('changes after a write by hand', async () => {
    const before = versions()
    await admin.query(`UPDATE ${table} SET doc = doc WHERE guid = $1`, [guid])
    await catchUp()
    expect(versions()[0]).not.toBe(before[0])
  })

  test('changes after a write to one storage, and not in another storage', async () => {
    const here = name
    await writer.ensure(`${here}_b`)
    await recorded(`${here}_b`)
    await catchUp()
    const before = versionOf(undefined, here)
    await create(1, `${here}_b`)
    await catchUp()
    expect(versionOf(undefined, here)).toBe(before)
  })

  test('changes after a transaction that began to write before, and was committed after', async () => {
    const other = await openOther()
    await other.query('BEGIN')
    await other.query(`UPDATE ${table} SET doc = doc WHERE guid = $1`, [guid])
    await create(6)
    await catchUp()
    const before = versions()
    await create(7)
    await catchUp()
    expect(versions().slice(0, 2)).toEqual(before.slice(0, 2))
    // What was told once is not told again while the older transaction is open.
    const rested = versions()
    await catchUp()
    expect(versions()).toEqual(rested)
    await other.query('COMMIT')
    await catchUp()
    expect(versions()[0]).not.toBe(before[0])
    expect(versions()[1]).toBe(before[1])
  })

  test('changes where more was written than is looked at', async () => {
    const before = versions()
    await admin.query(
      `INSERT INTO ${table} (guid, created, updated, removed, version, doc) SELECT 'x' || n, 1, 1, 0, 1, '{}' FROM generate_series(1, 5001) n`,
    )
    await catchUp()
    expect(versions().every((version, at) => version !== before[at])).toBe(true)
    ahead += 6_000
  })

  test('changes in a storage that was dropped and made again', async () => {
    const before = versions()
    await writer.drop(name)
    expect(versionOf()).toBeUndefined()
    await writer.ensure(name)
    await recorded(name)
    await catchUp()
    expect(versions().every((version, at) => version !== before[at])).toBe(true)
  })

  test('changes after the server has lost its notes, as an unlogged table does', async () => {
    const before = versions()
    await transact(writer, (session) => session.update(name, guid, setFields({ n: 2 })))
    await admin.query('TRUNCATE noted_write, noted_write_life')
    expect(await reader.capabilities.readVersions.catchUp?.()).toBe(false)
    await catchUp()
    expect(versions()[0]).not.toBe(before[0])
    const later = versions()
    await catchUp()
    expect(versions()).toEqual(later)
    // Another node has seen it first, and begun another epoch.
    await admin.query('TRUNCATE noted_write, noted_write_life; INSERT INTO noted_write_life DEFAULT VALUES')
    await catchUp()
    expect(versions().every((version, at) => version !== later[at])).toBe(true)
  })

  test('changes where nothing was asked for as long as notes are remembered, half', async () => {
    const before = versions()
    ahead += REMEMBERED_MS / 2
    await catchUp()
    expect(versions().every((version, at) => version !== before[at])).toBe(true)
  })

  test('of questions that are asked at once is that of one moment, in one statement', async () => {
    const calls = Array.from({ length: 50 }, () => reader.capabilities.readVersions.catchUp?.())
    expect(new Set(calls)).toHaveProperty('size', 1)
    expect(await Promise.all(calls)).not.toContain(false)
  })
})

describe('noted writes are forgotten', () => {
  const left = async () => (await admin.query('SELECT count(*)::int AS n FROM noted_write')).rows[0].n
  const connection = {
    rows: async (text: string, values?: readonly unknown[]) =>
      (await admin.query(text, [...(values ?? [])])).rows,
    run: async (text: string, values?: readonly unknown[]) =>
      (await admin.query(text, [...(values ?? [])])).rowCount ?? 0,
  }

  /** Transactions of other suites on the server are under way, too: what is noted after them is kept for them. */
  async function othersHaveEnded() {
    const shown =
      'SELECT pg_snapshot_xmin(now)::text AS first, pg_snapshot_xmax(now)::text AS last FROM pg_current_snapshot() AS now'
    const until = BigInt((await admin.query(shown)).rows[0].last)
    const ended = async () => expect(BigInt((await admin.query(shown)).rows[0].first) >= until).toBe(true)
    await vi.waitFor(ended, 20_000)
  }

  test('when they are old, and those of transactions that were under way are not', async () => {
    await create(1)
    await recorded(name)
    let passed = 0
    const clocks = { monotonic: () => passed, wall: () => passed }
    const forget = deleteOldChanges({ connection, clocks })
    await admin.query('DELETE FROM noted_write')
    await create(2)
    await othersHaveEnded()
    const session = writer.session()
    await session.create(name, setFields({ n: 3 }))
    // So that its statement is sent.
    await session.count(name, { kind: 'all' })
    await forget()
    passed = REMEMBERED_MS - 1
    await session.transaction.commit()
    await create(4)
    await othersHaveEnded()
    await forget()
    expect(await left()).toBe(3)
    passed = REMEMBERED_MS
    await forget()
    expect(await left()).toBe(2)
    passed = 3 * REMEMBERED_MS
    await forget()
    expect(await left()).toBe(0)
  })

  test('when they are of another server, whose database was copied here', async () => {
    await othersHaveEnded()
    await admin.query(`INSERT INTO noted_write VALUES ('99999999999', 1, 'x')`)
    let passed = 0
    const forget = deleteOldChanges({ connection, clocks: { monotonic: () => passed, wall: () => passed } })
    await forget()
    passed = REMEMBERED_MS
    await forget()
    expect(await left()).toBe(0)
  })
})
