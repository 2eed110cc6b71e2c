import { expect, test } from 'vitest'
import { matchAll, type Query } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { emptyShape, noteShape } from '../core/document-shape.ts'
import { SqliteConnection } from '../core/sqlite-connection.ts'
import { documentTable, documentTableSql } from '../core/tables.ts'
import { compileAggregate } from './aggregate-sql.ts'
import { indexExpression } from './field-sql.ts'
import { registerSearchFunctions } from './search-functions.ts'

const table = documentTable(1)
const indexes = new Map([
  ['by_region', { fields: ['region'] }],
  ['by_region_price', { fields: ['region', 'price'] }],
  ['by_status_region_price', { fields: ['status', 'region', 'price'] }],
  ['by_customer', { fields: ['customer'] }],
  ['by_removed', { fields: ['_meta.removed', 'region', 'price'] }],
  ['by_code', { fields: ['region', 'price', 'code'], unique: true }],
])
const status: Query = { kind: 'term', field: 'status', value: 'paid' }
const customer: Query = { kind: 'term', field: 'customer', value: 'c' }

const region = { field: 'region', as: 'region' }
const total = { figure: 'sum', field: 'price', as: 'total' } as const

function planOf(document: Record<string, unknown>, changes: Partial<Aggregate>): string[] {
  const connection = new SqliteConnection({ path: ':memory:', readOnly: false, synchronous: 'OFF' })
  registerSearchFunctions(connection)
  connection.exec(documentTableSql(1))
  for (const [name, { fields }] of indexes)
    connection.exec(
      `CREATE INDEX ${name} ON ${table} (${fields.map(indexExpression).join(', ')}, created, guid) WHERE ${name === 'by_removed' ? 'removed > 0' : 'removed = 0'}`,
    )
  const shape = emptyShape()
  noteShape(shape, JSON.parse(JSON.stringify(document)))
  const aggregate = { query: matchAll, groups: [region], values: [total], order: [], limit: 1, ...changes }
  const target = { id: 1, table, textTable: undefined, shape }
  const { sql, parameters } = compileAggregate(target, aggregate, indexes).groups(true)
  const steps = connection.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map(({ detail }) => String(detail))
  connection.close()
  return steps.filter((step) => step.includes(table) || step.includes('TEMP'))
}

const tidy = { region: 'north', price: 1.5, status: 'paid', customer: 'c', at: '2026-01-31' }

test.each<[string, Record<string, unknown>, Partial<Aggregate>, string]>([
  ['groups and a sum', tidy, {}, `SCAN ${table} USING INDEX by_region_price`],
  ['a count alone', tidy, { values: [] }, `SCAN ${table} USING INDEX by_region`],
  [
    'an equality first',
    tidy,
    { query: status },
    `SEARCH ${table} USING INDEX by_status_region_price (<expr>=?)`,
  ],
  [
    'an equality that only another index has',
    tidy,
    { query: customer },
    `SEARCH ${table} USING INDEX by_customer (<expr>=?)`,
  ],
])('%s reads the index that holds all of it', (_name, document, changes, step) => {
  expect(planOf(document, changes)[0]).toBe(step)
})

test.each<[string, Record<string, unknown>, Partial<Aggregate>]>([
  ['an index of removed documents', tidy, { groups: [{ field: '_meta.removed', as: 'removed' }, region] }],
  ['a field that held a list', { ...tidy, price: [1] }, {}],
  ['a field that no index has', tidy, { values: [{ figure: 'max', field: 'at', as: 'last' }] }],
])('%s names no index', (_name, document, changes) => {
  const shape = emptyShape()
  noteShape(shape, JSON.parse(JSON.stringify(document)))
  const aggregate = {
    query: matchAll,
    groups: [region],
    values: [{ ...total }, { figure: 'count', as: 'n' } as const],
    order: [],
    limit: 1,
    ...changes,
  }
  const target = { id: 1, table, textTable: undefined, shape: { ...shape } }
  noteShape(target.shape, { price: 2 })
  expect(compileAggregate(target, aggregate, indexes).groups(true).sql).not.toContain('INDEXED BY')
})
