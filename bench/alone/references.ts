/**
 * Pages of a table of 100,000 orders that refer to customers and goods, with both documents that each row refers to and the total. However
 * many rows a page has, it takes one search more for each storage that is referred to.
 */
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { type Query, type Search, search } from '../../src/shared/query.ts'
import type { Database, Session } from '../../src/storage/database.ts'
import { guidOf, objectsIn } from '../../src/storage/document-fields.ts'
import { findWithTotal } from '../../src/storage/find-documents.ts'
import { expandDocuments } from '../../src/storage/reference/expand-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { TransparentSession } from '../../src/storage/wrapped-session.ts'
import { type EngineDatabase, fillWithGuids, openEmbedded, openPostgres, timeOf } from '../engine-database.ts'
import { median } from '../statistics.ts'
import { type Goal, milliseconds, type Reached } from './goal.ts'

const DOCUMENTS = 100_000
const MOST_MS = 20
/** The page itself, customers and goods. */
const MOST_SEARCHES = 3

const references = [
  { from: 'orders', field: 'customer', storage: 'customers', onDelete: 'refuse' },
  { from: 'orders', field: 'good', storage: 'goods', onDelete: 'refuse' },
] as const

const ofCustomers = (field: string, value: string | number): Query => ({
  kind: 'through',
  field: 'customer',
  storage: 'customers',
  query: { kind: 'term', field, value, scalar: true },
})
const byNumber = [{ field: 'n', order: 'asc', missing: 'last' }] as const

interface BenchRequest {
  readonly title: string
  readonly asked: Search
  /** Whether the goal of time counts for it; that of searches always does. */
  readonly isTimed: boolean
}

const requested: readonly BenchRequest[] = [
  { title: '25 rows, newest first', asked: search({ limit: 25 }), isTimed: true },
  { title: '500 rows', asked: search({ limit: 500 }), isTimed: false },
  { title: '25 by an indexed field', asked: search({ limit: 25, sort: byNumber }), isTimed: true },
  { title: 'page 100', asked: search({ limit: 25, sort: byNumber, offset: 2_475 }), isTimed: true },
  {
    title: 'customers of one city in 50',
    asked: search({ limit: 25, query: ofCustomers('city', 7) }),
    isTimed: false,
  },
  {
    title: 'customers of one name',
    asked: search({ limit: 25, query: ofCustomers('name', 'Customer 77') }),
    isTimed: true,
  },
]

export const tableWithReferences: readonly Goal[] = [
  goalOf('references', '', openEmbedded),
  goalOf('references-postgres', ' on PostgreSQL', openPostgres),
]

function goalOf(id: string, place: string, open: () => Promise<EngineDatabase>): Goal {
  return {
    id,
    title: `table over ${DOCUMENTS.toLocaleString('en-US')} documents${place}, two references a row`,
    goal: `under ${MOST_MS} ms, at most ${MOST_SEARCHES} searches a page`,
    measure: ({ rounds }) => measure(open, rounds, DOCUMENTS),
  }
}

class CountingSession extends TransparentSession {
  searches = 0

  override find(storage: string, asked: Search) {
    this.searches += 1
    return super.find(storage, asked)
  }

  override findWithTotal(storage: string, asked: Search) {
    this.searches += 1
    return super.findWithTotal(storage, asked)
  }
}

async function measure(
  open: () => Promise<EngineDatabase>,
  rounds: number,
  documents: number,
): Promise<Reached> {
  const { database, settle, close } = await open()
  try {
    await fill(database, documents)
    await settle()
    const found: string[] = []
    let met = true
    for (const { title, asked, isTimed } of requested) {
      const times: number[] = []
      let searches = 0
      for (let round = 0; round < rounds; round++) {
        // Whatever was kept is made again.
        for (const name of ['orders', 'customers', 'goods'])
          await transact(database, (session) => session.create(name, setFields({ n: -1 })))
        const session = new CountingSession(database.session())
        times.push(await timeOf(() => page(session, asked)))
        searches = Math.max(searches, session.searches)
      }
      const ms = median(times)
      const figures = `${title} ${milliseconds(ms)}, ${searches} searches`
      console.log(`  ${figures}`)
      found.push(figures)
      met &&= searches <= MOST_SEARCHES && (!isTimed || ms < MOST_MS)
    }
    return { found: found.join('; '), met }
  } finally {
    await close()
  }
}

async function fill(database: Database, documents: number): Promise<void> {
  const customers = await fillWithGuids(database, 'customers', documents / 10, (n) => ({
    name: `Customer ${n}`,
    city: n % 50,
  }))
  const goods = await fillWithGuids(database, 'goods', documents / 100, (n) => ({
    name: `Good ${n}`,
    price: n / 100,
  }))
  const order = (n: number): JsonObject => ({
    n,
    customer: customers[(n * 7_919) % customers.length] ?? null,
    good: goods[(n * 104_729) % goods.length] ?? null,
    note: 'as it is written in an order of the usual length',
  })
  await fillWithGuids(database, 'orders', documents, order)
  for (const [storage, field] of [
    ['orders', 'customer'],
    ['orders', 'good'],
    ['orders', 'n'],
    ['customers', 'name'],
  ] as const)
    await database.ensure(storage, { indexes: [{ fields: [field] }] })
}

/** As a table asks for it: with its total, and what both references of each row name. */
async function page(session: Session, asked: Search): Promise<void> {
  const { found } = await findWithTotal(session, 'orders', asked)
  const expanded = await expandDocuments(session, found.documents, references)
  for (const { customer, _expand: targets } of objectsIn(expanded.value)) {
    const [target] = objectsIn([isJsonObject(targets) ? (targets.customer ?? null) : null])
    if (customer !== undefined && (target === undefined || guidOf(target) !== customer))
      throw new Error('A row came without the customer that it refers to.')
  }
}
