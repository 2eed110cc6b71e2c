/**
 * Figures of groups of 1,000,000 documents as a request gets them, on the embedded engine in the search thread: asked for the first time,
 * again, and when they are known and one more document was written.
 */
import { QuoinError } from '../../src/shared/errors.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { matchAll } from '../../src/shared/query.ts'
import type { Aggregate } from '../../src/storage/aggregate/aggregate.ts'
import type { Database } from '../../src/storage/database.ts'
import { objectsIn } from '../../src/storage/document-fields.ts'
import { transact } from '../../src/storage/transact.ts'
import { fillStorage, openEmbedded, openPostgres, timeOf } from '../engine-database.ts'
import { median } from '../statistics.ts'
import { type Goal, milliseconds, type Reached } from './goal.ts'

const DOCUMENTS = 1_000_000
const MOST_AGAIN_MS = 1
const regions = ['north', 'east', 'south', 'west', 'centre', 'coast', 'hills', 'lakes', 'plains', 'islands']

const region = { field: 'region', as: 'region' }
const all = { query: matchAll, order: [], limit: 1_000 }
const sum = { figure: 'sum', field: 'price', as: 'total' } as const
const count = { figure: 'count', as: 'n' } as const
const paid = { kind: 'term', field: 'status', value: 'paid' } as const

interface BenchRequest {
  readonly title: string
  readonly aggregate: Aggregate
  /** Milliseconds of the goal, the first time, on each engine that has one. */
  readonly most: { readonly embedded?: number; readonly postgres?: number }
}

const requested: readonly BenchRequest[] = [
  {
    title: 'count',
    aggregate: { ...all, groups: [region], values: [count] },
    most: { embedded: 300, postgres: 300 },
  },
  {
    title: 'count and sum',
    aggregate: { ...all, groups: [region], values: [count, sum] },
    most: { embedded: 300, postgres: 300 },
  },
  {
    title: 'the same of a third',
    aggregate: { ...all, groups: [region], values: [count, sum], query: paid },
    most: { embedded: 300, postgres: 200 },
  },
  {
    title: 'without an index',
    aggregate: { ...all, groups: [{ field: 'kind', as: 'kind' }], values: [count] },
    most: {},
  },
  {
    title: 'sum by month',
    aggregate: {
      ...all,
      groups: [{ field: 'at', as: 'month', part: 'month', zone: 'Europe/Berlin' }],
      values: [sum],
    },
    most: { postgres: 600 },
  },
]

/** They take minutes to fill. On PostgreSQL the second time is a round trip, which has no goal. */
export const aggregates: readonly Goal[] = [
  {
    id: 'aggregates',
    title: `figures of groups of ${DOCUMENTS.toLocaleString('en-US')} documents, by an indexed field`,
    goal: `under 300 ms, asked again under ${MOST_AGAIN_MS} ms`,
    measure: ({ rounds }) => measure('embedded', rounds, DOCUMENTS),
  },
  {
    id: 'aggregates-postgres',
    title: `figures of groups of ${DOCUMENTS.toLocaleString('en-US')} documents on PostgreSQL, by an indexed field`,
    goal: 'count, and count and sum under 300 ms, of a third under 200 ms, by month under 600 ms',
    measure: ({ rounds }) => measure('postgres', rounds, DOCUMENTS),
  },
]

const openEngine = { embedded: openEmbedded, postgres: openPostgres } as const

async function measure(engine: keyof typeof openEngine, rounds: number, documents: number): Promise<Reached> {
  const { database, settle, close } = await openEngine[engine]()
  try {
    await database.ensure('sales', {
      indexes: [
        { fields: ['region', 'price'] },
        { fields: ['status', 'region', 'price'] },
        { fields: ['at', 'price'] },
      ],
    })
    // On PostgreSQL the indexes of a storage that is full are over expressions until it has moved to key columns.
    await fillStorage(database, 'sales', documents, sale)
    await settle()
    await mustCountAll(database, documents)
    const found: string[] = []
    let met = true
    for (const { title, aggregate, most } of requested) {
      const { first, again, after, refused } = await timesOf(database, aggregate, rounds)
      const times = `${title} ${milliseconds(first)}, again ${milliseconds(again)}, after a write ${milliseconds(after)}`
      const figures = refused === undefined ? times : `${title}: ${refused}`
      console.log(`  ${figures}`)
      found.push(figures)
      const goal = most[engine]
      met &&= goal === undefined || (first < goal && (engine === 'postgres' || again < MOST_AGAIN_MS))
    }
    return { found: found.join('; '), met }
  } finally {
    await close()
  }
}

/** Without times where the engine refuses it, as one that reads too much. */
async function timesOf(database: Database, aggregate: Aggregate, rounds: number) {
  const [first, again, after]: [number[], number[], number[]] = [[], [], []]
  // A document that each of them counts.
  const write = () => transact(database, (session) => session.create('sales', setFields(sale(0))))
  for (let round = 0; round < rounds; round++) {
    // One row more is another aggregate, so that nothing that was kept serves.
    const fresh = { ...aggregate, limit: aggregate.limit + round }
    const ask = () => timeOf(() => database.session().aggregate('sales', fresh))
    await write()
    try {
      first.push(await ask())
      again.push(await ask())
      await write()
      await ask()
      await write()
      after.push(await ask())
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      return { first: Number.NaN, again: Number.NaN, after: Number.NaN, refused: error.message }
    }
  }
  return { first: median(first), again: median(again), after: median(after), refused: undefined }
}

/** Both engines must give the groups that the documents are made with. */
async function mustCountAll(database: Database, documents: number): Promise<void> {
  const expected = new Map<unknown, number>()
  for (let number = 0; number < documents; number++) {
    const name = regionOf(scattered(number))
    expected.set(name, (expected.get(name) ?? 0) + 1)
  }
  const counted = { ...all, groups: [region], values: [count] }
  const { rows } = await database.session().aggregate('sales', counted)
  const input = objectsIn(rows.value)
  const isRight = input.every((row) => expected.get(row.region) === row.n)
  if (input.length !== expected.size || !isRight)
    throw new Error(`The groups are wrong: ${JSON.stringify(input)}.`)
}

function sale(number: number) {
  const at = scattered(number)
  return {
    region: regionOf(at),
    status: ['paid', 'open', 'late'][at % 3] ?? '',
    kind: at % 5,
    price: at / 100,
    at: new Date(Date.UTC(2024, 0, 1) + number * 60_000).toISOString(),
    title: `Order ${number} of some goods with a name of the usual length`,
  }
}

function scattered(number: number): number {
  return (number * 7_919) % 100_003
}

function regionOf(at: number): string {
  return regions[at % regions.length] ?? ''
}
