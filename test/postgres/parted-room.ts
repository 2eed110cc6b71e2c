/** Aggregates by parts of a few documents, on a storage that two nodes write to, and what each of them has cost. */
import { Client, Pool } from 'pg'
import { vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import type { Aggregate } from '../../src/storage/aggregate/aggregate.ts'
import { type Database, documentOf } from '../../src/storage/database.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import type { PostgresConnection } from '../../src/storage/postgres/core/rows.ts'
import type { StorageEntry } from '../../src/storage/postgres/core/storage-entry.ts'
import { PartedAggregates } from '../../src/storage/postgres/kept/kept-parts.ts'
import { beginLife } from '../../src/storage/postgres/kept/noted-writes.ts'
import { aggregateDocuments } from '../../src/storage/postgres/sql/postgres-aggregate.ts'
import { transact } from '../../src/storage/transact.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { openNode } from './open-node.ts'

/** What the last aggregate was worked out by: all parts, those that were written, or as one. */
export type Way = 'all' | 'written' | 'whole'

export interface PartedRoom {
  readonly url: string
  readonly admin: Client
  readonly nodes: readonly [Database, Database]
  /** `each`: what passes while a statement works out what was written. */
  readonly clocks: { passed: number; each: number }
  readonly ways: Way[]
  /** How often the notes were found lost. */
  readonly lost: () => number
  /** A storage without documents, whose writes are noted. */
  empty(): Promise<void>
  readonly name: () => string
  readonly table: () => string
  create(fields: JsonObject, cms: number, node?: Database): Promise<string>
  /** By parts; as one statement gives it. */
  parted(wanted: Aggregate): Promise<string>
  direct(wanted: Aggregate): Promise<string>
  /** Asks what was written, as a node does now and then. */
  follow(): Promise<void>
  /** As a node does that has come back, perhaps to another server. */
  forget(): void
  /** Numbers of the parts that the last statement has worked out. */
  readonly worked: () => readonly number[]
  close(): Promise<void>
}

export async function openPartedRoom(documents: number): Promise<PartedRoom> {
  const temporary = await openTemporaryDatabase()
  const admin = new Client({ connectionString: temporary.url })
  const asking = new Pool({ connectionString: temporary.url, max: 4 })
  await admin.connect()
  const nodes = [
    await openNode(temporary.url, { node: 'a' }),
    await openNode(temporary.url, { node: 'b' }),
  ] as const
  const clocks = { passed: 0, each: 0 }
  const ways: Way[] = []
  let lost = 0
  let names = 0
  let name = ''
  let entry: StorageEntry
  let parted: PartedAggregates
  let worked: readonly number[] = []

  const connection: PostgresConnection = {
    async rows(text, values = []) {
      const { rows } = await asking.query(text, [...values])
      const way = wayOf(text)
      if (way) ways.push(way)
      if (way === 'written') {
        worked = JSON.parse(rows[0].parts)
        clocks.passed += clocks.each
      }
      return rows
    },
    run: async (text, values = []) => (await asking.query(text, [...values])).rowCount ?? 0,
  }

  async function empty(): Promise<void> {
    names += 1
    name = `things_${names}`
    const node = nodes[0]
    await node.ensure(name)
    await vi.waitFor(
      async () => {
        await node.capabilities.readVersions.catchUp?.()
        if (node.capabilities.readVersions.of(name)() === undefined) throw new Error('Not noted yet.')
      },
      { timeout: 30_000, interval: 5 },
    )
    const { rows } = await admin.query('SELECT id FROM storage WHERE name = $1', [name])
    const { id } = rows[0]
    entry = {
      ...{
        id,
        name,
        table: `doc_${id}`,
        noted: true,
        textReady: false,
        textWanted: false,
        columns: new Map(),
      },
      ...{ indexes: new Map(), unique: [] },
    }
    const time = () => clocks.passed
    parted = new PartedAggregates({
      clocks: { monotonic: time, wall: time },
      documents,
      async beginLife() {
        lost += 1
        await beginLife(connection)
      },
    })
    ways.length = 0
  }
  await empty()

  return {
    url: temporary.url,
    admin,
    nodes,
    clocks,
    ways,
    lost: () => lost,
    empty,
    name: () => name,
    table: () => entry.table,
    create: (fields, cms, node = nodes[0]) =>
      transact(node, async (session) =>
        guidOf(documentOf(await session.create(name, setFields(fields), { cms }))),
      ),
    async parted(wanted) {
      const key = JSON.stringify([entry.id, wanted])
      parted.took(key, 1_000)
      const { rows, total } = parted.has(key, entry, wanted)
        ? await parted.aggregate(connection, entry, wanted, key)
        : await aggregateDocuments(connection, entry, wanted)
      return `${total} ${rows.text}`
    },
    async direct(wanted) {
      const { rows, total } = await aggregateDocuments(
        { ...connection, rows: async (text, values = []) => (await admin.query(text, [...values])).rows },
        entry,
        wanted,
      )
      return `${total} ${rows.text}`
    },
    follow: () => parted.follow(connection),
    forget: () => parted.forget(),
    worked: () => worked,
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
      await Promise.all([admin.end(), asking.end()])
      await temporary.drop()
    },
  }
}

function wayOf(text: string): Way | undefined {
  if (text.includes('later AS MATERIALIZED')) return 'written'
  if (text.includes('AS part_groups')) return 'all'
  return text.includes('AS documents') ? 'whole' : undefined
}
