/** What an aggregate in the thread may read at most: no builder's chart keeps the thread for minutes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { matchAll, type Query } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { emptyShape, noteShape } from '../core/document-shape.ts'
import { SqliteConnection } from '../core/sqlite-connection.ts'
import { documentTable, documentTableSql } from '../core/tables.ts'
import { indexExpression } from './field-sql.ts'
import { registerSearchFunctions } from './search-functions.ts'
import { aggregateDocuments } from './sqlite-aggregate.ts'

const MANY = 20_480
const table = documentTable(1)
const shape = emptyShape()
const connection = new SqliteConnection({ path: ':memory:', readOnly: false, synchronous: 'OFF' })

beforeAll(() => {
  registerSearchFunctions(connection)
  connection.exec(documentTableSql(1))
  connection.exec(
    `CREATE INDEX by_region ON ${table} (${indexExpression('region')}, created, guid) WHERE removed = 0`,
  )
  noteShape(shape, { region: 'north', at: '2026-01-31T12:00:00.000Z', kind: 1 })
  connection.run(
    `WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
     INSERT INTO ${table} (guid, created, updated, removed, version, doc)
     SELECT printf('%032d', i), i, i, 0, 1,
       json_object('region', i % 10, 'kind', i % 7, 'at', '2026-01-31T12:00:00.000Z') FROM n`,
  )
})
afterAll(() => connection.close())

const indexes = new Map([['by_region', { fields: ['region'] }]])
const count = { figure: 'count', as: 'n' } as const
const nothing: Query = { kind: 'term', field: 'kind', value: 99 }

function groupsWithin(units: number, changes: Partial<Aggregate>, known?: typeof indexes) {
  const aggregate = { query: matchAll, groups: [], values: [count], order: [], limit: 100, ...changes }
  const target = { id: 1, table, textTable: undefined, shape }
  return connection.within(units, () => aggregateDocuments(connection, target, aggregate, known)).total
}

test.each<[string, Partial<Aggregate>, number, number]>([
  ['an index', { groups: [{ field: 'region', as: 'region' }] }, 8, 10],
  ['documents', { groups: [{ field: 'kind', as: 'kind' }] }, 60, 7],
  ['documents of which none matches', { groups: [{ field: 'kind', as: 'kind' }], query: nothing }, 60, 0],
  ['dates', { groups: [{ field: 'at', as: 'day', part: 'day', zone: 'UTC' }] }, 80, 1],
])('%s', (_name, changes, units, groups) => {
  expect(() => groupsWithin((MANY - 1_024) * units, changes, indexes)).toThrow(EffortSpent)
  expect(groupsWithin(MANY * units, changes, indexes)).toBe(groups)
})

test('few documents are not counted: there another bound holds', () => {
  expect(groupsWithin(0, { groups: [{ field: 'kind', as: 'kind' }] })).toBe(7)
})
