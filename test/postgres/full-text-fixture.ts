/** Free text from words in memory, on a storage that two nodes write to, and how each search was answered. */
import { Client } from 'pg'
import { vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { type Search, search } from '../../src/shared/query.ts'
import { type Database, documentOf } from '../../src/storage/database.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { startEpoch } from '../../src/storage/postgres/cache/change-log.ts'
import type { StorageEntry } from '../../src/storage/postgres/core/postgres-catalogue.ts'
import { openPostgresPool } from '../../src/storage/postgres/core/postgres-connection.ts'
import { FullTextCache } from '../../src/storage/postgres/fulltext/full-text-cache.ts'
import { findDocuments, findWithTotal } from '../../src/storage/postgres/sql/postgres-query.ts'
import { TEXT_BOUNDS, type TextBounds } from '../../src/storage/postgres/sql/text-estimate.ts'
import { transact } from '../../src/storage/transact.ts'
import { storageTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { openNode } from './open-node.ts'

export interface FullTextFixture {
  readonly url: string
  readonly admin: Client
  readonly nodes: readonly [Database, Database]
  readonly clocks: { passed: number }
  readonly words: FullTextCache
  readonly entry: StorageEntry
  readonly name: string
  readonly table: string
  /** What was reported, and how often notes were found lost. */
  readonly reported: unknown[]
  /** Storages whose writes are to be noted. */
  readonly requested: string[]
  /** Documents of a storage whose words are kept; undefined: as always. */
  fewest: number | undefined
  bounds: TextBounds
  readonly lost: () => number
  /** Called before each statement that reads a page by guids. */
  beforePage: () => Promise<void>
  /** The same for those that read where a word stands: they see no more what is written then. */
  beforeFetch: () => Promise<void>
  create(fields: JsonObject, node?: Database): Promise<string>
  /** Guids and the total, and the page of a search without total, which comes first: whether words in memory gave that. */
  ranked(
    requested: Partial<Search>,
  ): Promise<{ readonly found: string; readonly page: string; readonly inMemory: boolean }>
  /** As PostgreSQL ranks. */
  direct(requested: Partial<Search>): Promise<string>
  close(): Promise<void>
}

export async function openFullTextFixture(): Promise<FullTextFixture> {
  const temporary = await openTemporaryDatabase(storageTemplate)
  const admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  const nodes = [
    await openNode(temporary.url, { node: 'a' }),
    await openNode(temporary.url, { node: 'b' }),
  ] as const
  const pool = openPostgresPool({ url: temporary.url, connections: 6, pooled: false })
  const clocks = { passed: 0 }
  const reported: unknown[] = []
  const requested: string[] = []
  const name = 'things'
  let lost = 0
  await nodes[0].ensure(name, { text: true })
  await vi.waitFor(
    async () => {
      await nodes[0].capabilities.readVersions.catchUp?.()
      if (nodes[0].capabilities.readVersions.of(name)() === undefined) throw new Error('Not noted yet.')
    },
    { timeout: 30_000, interval: 5 },
  )
  const { rows } = await admin.query('SELECT id FROM storage WHERE name = $1', [name])
  const { id } = rows[0]
  const entry: StorageEntry = {
    ...{ id, name, table: `doc_${id}`, noted: true, textReady: true, needsText: true, columns: new Map() },
    ...{ indexes: new Map(), unique: [] },
  }
  const reading: typeof pool.reading = {
    ...pool.reading,
    async rows(text, values) {
      if (text.includes('scored_guid')) await fixture.beforePage()
      return pool.reading.rows(text, values)
    },
  }
  const time = () => clocks.passed
  const words = new FullTextCache({
    pool: {
      reading,
      snapshot: (work) =>
        pool.snapshot((connection) =>
          work({
            ...connection,
            run: (text, values) => connection.run(text, values),
            async rows(text, values) {
              if (text.startsWith('FETCH')) await fixture.beforeFetch()
              if (text.includes('scored_guid')) await fixture.beforePage()
              return connection.rows(text, values)
            },
          }),
        ),
    },
    clocks: { monotonic: time, wall: time },
    requestTracking: (storage) => void requested.push(storage),
    report: (error) => void reported.push(error),
    async startEpoch() {
      lost += 1
      await startEpoch(reading)
    },
    longMs: 0,
    get fewest() {
      return fixture.fewest
    },
    get bounds() {
      return fixture.bounds
    },
  })
  const shown = (documents: { readonly text: string }, total: number) => {
    const list: { readonly _meta: { readonly guid: string } }[] = JSON.parse(documents.text)
    return `${total} ${list.map(({ _meta }) => _meta.guid).join(' ')}`
  }
  const fixture: FullTextFixture = {
    url: temporary.url,
    admin,
    nodes,
    clocks,
    words,
    entry,
    name,
    table: entry.table,
    reported,
    requested,
    fewest: 0,
    bounds: TEXT_BOUNDS,
    lost: () => lost,
    beforePage: async () => undefined,
    beforeFetch: async () => undefined,
    create: (fields, node = nodes[0]) =>
      transact(node, async (session) => guidOf(documentOf(await session.create(name, setFields(fields))))),
    async ranked(requested) {
      const whole = search(requested)
      let inMemory = true
      const { documents } = await words.find(entry, whole, () => {
        inMemory = false
        return findDocuments(pool.reading, entry, whole)
      })
      const { found, total } = await words.findWithTotal(entry, whole, () =>
        findWithTotal(pool.reading, entry, whole),
      )
      await words.idle()
      return { found: shown(found.documents, total), page: shown(documents, total), inMemory }
    },
    async direct(requested) {
      const { found, total } = await findWithTotal(pool.reading, entry, search(requested))
      return shown(found.documents, total)
    },
    async close() {
      await words.close()
      await pool.close()
      await Promise.all(nodes.map((node) => node.close()))
      await admin.end()
      await temporary.drop()
    },
  }
  return fixture
}
