/** How PostgreSQL carries out an aggregate, and fields whose names are those of columns or of none. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aggregatePlainly } from '../../../../test/conformance/aggregate-documents.ts'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { matchAll, type Query } from '../../../shared/query.ts'
import type { Aggregate, Grouping, Measure } from '../../aggregate/aggregate.ts'
import { aggregateDocuments } from './postgres-aggregate.ts'
import { countDocuments } from './postgres-query.ts'

const long = 'ä'.repeat(40)
const names = [
  'removed',
  'doc',
  'guid',
  'found',
  'item',
  'f0',
  "it's",
  'Region',
  'region',
  'a b',
  long,
  `${long}2`,
  'in.side',
]

let world: PostgresWorld
let documents: JsonObject[]
beforeAll(async () => {
  world = await openSearchWorld({ indexes: [], text: false })
  documents = Array.from({ length: 300 }, (_, n) => ({
    _meta: { guid: `guid-${n}`, created: n, updated: n, cms: n * 1000, ums: n * 1000, removed: 0 },
    ...Object.fromEntries(
      names.map((name, at) => [name, (n + at) % 7 === 0 ? { x: n } : (n * (at + 1)) % 5]),
    ),
    in: { side: n % 3 },
    at: new Date(Date.UTC(2026, 0, 1) + n * 3_600_000 * 12).toISOString(),
  }))
  await world.fill(documents)
  await world.connection.run('ANALYZE doc_1')
})
afterAll(() => world.close())

function of(groups: readonly Omit<Grouping, 'as'>[], values: readonly Omit<Measure, 'as'>[]): Aggregate {
  return {
    ...{ query: matchAll, order: [], limit: 1_000 },
    groups: groups.map((group, at) => ({ ...group, as: `g${at}` })),
    values: values.map((value, at) => ({ ...value, as: `v${at}` })),
  }
}

const input = (aggregate: Aggregate) => aggregateDocuments(world.connection, world.target, aggregate)

test.each(names)('the field %s is that of the document', async (field) => {
  for (const aggregate of [
    of([{ field }], [{ figure: 'count' }]),
    of(
      [{ field: 'at', part: 'month' }, { field }],
      [
        { figure: 'sum', field },
        { figure: 'max', field: '_meta.created' },
      ],
    ),
    of([], [{ figure: 'distinct', field }]),
  ])
    expect((await input(aggregate)).rows.text).toBe(aggregatePlainly(documents, aggregate).rows.text)
})

/** The statement, and what PostgreSQL does where starting a process costs nothing. */
async function carriedOut(
  aggregate: Aggregate,
): Promise<{ readonly statement: string; readonly plan: string }> {
  const settings = ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']
  for (const name of settings) await world.connection.run(`SET ${name} = 0`)
  const [sent] = await statementsOf(aggregate)
  if (sent === undefined) throw new Error('Nothing was sent.')
  const rows = await world.connection.rows(`EXPLAIN ${sent.text}`, sent.values)
  return { statement: sent.text, plan: rows.map((row) => String(row['QUERY PLAN'])).join('\n') }
}

async function statementsOf(aggregate: Aggregate) {
  const sent: { readonly text: string; readonly values: readonly unknown[] }[] = []
  const connection = {
    ...world.connection,
    rows(text: string, values: readonly unknown[] = []) {
      sent.push({ text, values })
      return world.connection.rows(text, values)
    },
  }
  await aggregateDocuments(connection, world.target, aggregate)
  return sent
}

const count = { figure: 'count' } as const
const sum = { figure: 'sum', field: 'f0' } as const
test.each<[string, Aggregate]>([
  ['a count by one field', of([{ field: 'region' }], [count])],
  ['a sum by a field', of([{ field: 'region' }], [count, sum])],
  ['a sum by month', of([{ field: 'at', part: 'month', zone: 'Europe/Berlin' }], [sum])],
  ['a count by the day of creation', of([{ field: '_meta.created', part: 'day' }], [count])],
])('%s reads a document once, and runs on several cores', async (_, aggregate) => {
  const { statement, plan } = await carriedOut(aggregate)
  expect(plan).toContain('Parallel Seq Scan')
  const reads = statement.match(/doc -> |json_to_record/g) ?? []
  expect(reads.length).toBe(aggregate.groups.some(({ field }) => field.startsWith('_meta')) ? 0 : 1)
})

test('figures and totals of fields with key columns are read from an index alone', async () => {
  const keyed = await openSearchWorld({
    ...{ indexes: [['region', 'at', 'n']], columns: true, text: false },
    // Of so few documents it reads the table.
    avoid: ['seqscan', 'bitmapscan'],
  })
  try {
    const note = 'x'.repeat(400)
    await keyed.fill(
      Array.from({ length: 4_000 }, (_, n) => ({
        _meta: { guid: `guid-${n}`, created: n, updated: n, cms: n * 1000, ums: n * 1000, removed: 0 },
        ...{ note, n: n / 10, region: n % 9 === 0 ? null : `region ${n % 7}` },
        at: new Date(Date.UTC(2026, 0, 1) + n * 3_600_000).toISOString(),
      })),
    )
    await keyed.connection.run('VACUUM ANALYZE doc_1')
    const plans: string[] = []
    const connection = {
      ...keyed.connection,
      async rows(text: string, values: readonly unknown[] = []) {
        const steps = await keyed.connection.rows(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`, values)
        plans.push(steps.map((row) => String(row['QUERY PLAN'])).join('\n'))
        return keyed.connection.rows(text, values)
      },
    }
    const third: Query = { kind: 'term', field: 'region', value: 'region 3' }
    const figures = [{ figure: 'sum', field: 'n' } as const, { figure: 'max', field: 'at' } as const]
    await aggregateDocuments(connection, keyed.target, of([{ field: 'region' }], [count, ...figures]))
    await aggregateDocuments(connection, keyed.target, of([{ field: 'at', part: 'month' }], figures))
    await aggregateDocuments(connection, keyed.target, { ...of([], figures), query: third })
    await countDocuments(connection, keyed.target, third, false)
    await countDocuments(connection, keyed.target, { kind: 'exists', field: 'region' }, false)
    for (const plan of plans) {
      const ran = plan.split('\n').filter((step) => step.includes('Scan') && !step.includes('never executed'))
      expect(ran.filter((step) => step.includes('doc_1') && !step.includes('Index Only Scan'))).toEqual([])
      // One pass also for months, which count documents without an instant apart.
      expect(ran.filter((step) => step.includes('Index Only Scan using ix_0'))).toHaveLength(1)
    }
    expect(plans).toHaveLength(5)
    // By the key itself, which the index has in its order.
    expect(plans[0]).toMatch(/Group Key: doc_1\w*\.k1\n/)
  } finally {
    await keyed.close()
  }
})
