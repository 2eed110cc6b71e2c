/**
 * `node bench/unique.ts [documents]`: a field of a million documents becomes unique, which some of them keep from it, while others
 * write, on both engines. Ends with 1 unless the duplicates are listed, nothing is changed and no turn of the event loop was over
 * 50 ms. Then without the duplicates, where it becomes unique. Filling takes some minutes.
 */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createField } from '../src/records/fields/field-records.ts'
import { openFieldRules } from '../src/records/fields/field-rules.ts'
import { validatedDatabase } from '../src/records/fields/validated-database.ts'
import { QuoinError } from '../src/shared/errors.ts'
import { setFields } from '../src/shared/mutation.ts'
import { matchAll, type Query } from '../src/shared/query.ts'
import { createAll } from '../src/storage/create-all.ts'
import type { Database } from '../src/storage/database.ts'
import { openPostgresDatabase } from '../src/storage/postgres/core/postgres-database.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import { systemStorages } from '../src/storage/system-storages.ts'
import { transact } from '../src/storage/transact.ts'
import type { RawDatabase } from '../src/storage/validated.ts'
import { openPostgresServer } from '../test/postgres/postgres-server.ts'
import { guardTurns, LONGEST_TURN_MS } from '../test/turn-guard.ts'

const BATCH = 500
const WRITE_EVERY_MS = 20
const storage = 'goods'
const by = { guid: 'bench', username: 'bench' }
const documents = Number(process.argv[2] ?? 1_000_000)
const random = randomFillSync

/** How many documents have the value of another one: few, and the most that there can be. */
const duplicates: readonly (readonly [string, number])[] = [
  ['few', 12],
  ['half', Math.floor(documents / 2)],
]

let isMet = true
const sqlite = await mkdtemp(join(tmpdir(), 'quoin-unique-'))
try {
  await measure(
    'SQLite',
    await openSqliteDatabase({ directory: sqlite, clock: Date.now, random, entity: 1, synchronous: 'OFF' }),
  )
} finally {
  await rm(sqlite, { recursive: true, force: true })
}
const server = await openPostgresServer()
try {
  await measure(
    'PostgreSQL',
    await openPostgresDatabase({
      ...{ url: server.url('postgres'), connections: 10, clock: Date.now, random, entity: 1 },
      ...{
        node: { name: 'bench', version: '0.0.0' },
        monotonic: () => performance.now(),
        wall: Date.now,
        load: () => 0,
      },
    }),
  )
} finally {
  await server.close()
}
process.exitCode = isMet ? 0 : 1

async function measure(engine: string, raw: RawDatabase): Promise<void> {
  try {
    const database = validatedDatabase(raw, await openFieldRules(raw), { clock: Date.now, random })
    await database.ensure(storage)
    await fill(database)
    for (const [name, total] of duplicates) await refused(engine, database, name, total)
    await made(engine, database)
  } finally {
    await raw.close()
  }
}

/** `few` and `half` hold the values that some have twice; `code` is each document's own. */
async function fill(database: Database): Promise<void> {
  for (let first = 0; first < documents; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, documents - first) }, (_, at) => {
      const n = first + at
      const twice = Object.fromEntries(
        duplicates.map(([name, total]) => [name, `${name} ${n < total ? n + total : n}`]),
      )
      return {
        mutations: setFields({
          n,
          code: `code ${n}`,
          title: `Good ${n} with a name of the usual length`,
          ...twice,
        }),
      }
    })
    await transact(database, (session) => createAll(session, storage, batch))
  }
}

async function refused(engine: string, database: Database, name: string, total: number): Promise<void> {
  const before = await state(database)
  const { outcome, longest, seconds, slowest } = await whileOthersWrite(database, name)
  const listed = outcome instanceof QuoinError ? outcome.details : undefined
  const problems = [
    ...(JSON.stringify(listed).startsWith(`{"total":${total},"documents":[{`)
      ? []
      : [`listed ${JSON.stringify(listed)?.slice(0, 200)}`]),
    ...(JSON.stringify(await state(database)) === JSON.stringify(before) ? [] : ['something was changed']),
    ...(longest < LONGEST_TURN_MS ? [] : ['a turn was too long']),
  ]
  tell(engine, `${total.toLocaleString('en-US')} duplicates`, { longest, seconds, slowest, problems })
}

async function made(engine: string, database: Database): Promise<void> {
  const { outcome, longest, seconds, slowest } = await whileOthersWrite(database, 'code')
  const isKept = database.capabilities.uniqueValues.of(storage).some((key) => key.name === 'code')
  const problems = [
    ...(outcome === undefined && isKept ? [] : [String(outcome)]),
    ...(longest < LONGEST_TURN_MS ? [] : ['a turn was too long']),
  ]
  tell(engine, 'none', { longest, seconds, slowest, problems })
}

/** A field of that name, made unique while a document is written again and again. */
async function whileOthersWrite(database: Database, name: string) {
  const guard = guardTurns()
  const began = performance.now()
  const writes = { slowest: 0, isOver: false }
  const writing = writeOn(database, writes)
  const outcome = await createField(database, { name, type: 'string', storage, unique: true }, by).then(
    () => undefined,
    (error: unknown) => error,
  )
  const seconds = (performance.now() - began) / 1_000
  const longest = await guard.longest()
  guard.stop()
  writes.isOver = true
  await writing
  return { outcome, seconds, longest, slowest: writes.slowest }
}

async function writeOn(database: Database, writes: { slowest: number; isOver: boolean }): Promise<void> {
  await database.ensure('notes')
  while (!writes.isOver) {
    const began = performance.now()
    await transact(database, (session) => session.create('notes', setFields({ n: 1 })))
    writes.slowest = Math.max(writes.slowest, performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS))
  }
}

/** What a refused change leaves as it was. */
async function state(database: Database) {
  const session = database.session()
  const { uniqueValues } = database.capabilities
  const changed: Query = { kind: 'range', field: '_meta.ums', bounds: { gt: 0 } }
  const newest = await session.aggregate(storage, {
    ...{ query: changed, groups: [], order: [], limit: 1 },
    values: [
      { figure: 'max', field: '_meta.ums', as: 'newest' },
      { figure: 'count', as: 'count' },
    ],
  })
  return {
    newest,
    fields: await session.count(systemStorages.fields, matchAll),
    kept: uniqueValues.of(storage).map((key) => key.name),
    unfinished: uniqueValues.unfinished(storage),
  }
}

interface Report {
  readonly longest: number
  readonly seconds: number
  readonly slowest: number
  readonly problems: readonly string[]
}

function tell(engine: string, what: string, { longest, seconds, slowest, problems }: Report): void {
  isMet &&= problems.length === 0
  console.log(
    `${problems.length === 0 ? 'met   ' : 'missed'} ${engine.padEnd(10)} ${what.padEnd(18)} ${seconds.toFixed(1).padStart(6)} s; longest turn ${longest.toFixed(0)} ms, slowest write of another storage ${slowest.toFixed(0)} ms ${problems.join('; ')}`,
  )
}
