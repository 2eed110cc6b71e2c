/** The aggregates of SQLite against the plain evaluator, with and without indexes, and whatever the shape knows. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AggregateWorld,
  aggregateAgreement,
  aggregatedBodies,
} from '../../../../test/aggregate-agreement.ts'
import { someFields, tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import type { JsonObject } from '../../../shared/json.ts'
import {
  type DocumentShape,
  emptyShape,
  loadShape,
  NUMBER,
  noteShape,
  openShape,
} from '../core/document-shape.ts'
import { SqliteConnection } from '../core/sqlite-connection.ts'
import { documentTable, documentTableSql } from '../core/tables.ts'
import { indexExpression } from './field-sql.ts'
import { registerSearchFunctions } from './search-functions.ts'
import { aggregateDocuments } from './sqlite-aggregate.ts'

type ShapeOf = (documents: readonly JsonObject[]) => DocumentShape

const table = documentTable(1)

function openWorld(isIndexed: boolean, shapeOf: ShapeOf): AggregateWorld & { close(): void } {
  const connection = new SqliteConnection({ path: ':memory:', readOnly: false, synchronous: 'OFF' })
  registerSearchFunctions(connection)
  connection.exec(documentTableSql(1))
  const indexed = isIndexed
    ? [...someFields.map((field) => [field]), ['at', 'amount'], ['status', 'amount']]
    : []
  for (const [number, fields] of indexed.entries())
    connection.exec(
      `CREATE INDEX ix_${number} ON ${table} (${fields.map(indexExpression).join(', ')}, created, guid) WHERE removed = 0`,
    )
  let shape = emptyShape()
  const indexes = new Map(indexed.map((fields, number) => [`ix_${number}`, { fields }]))
  return {
    fill(documents) {
      shape = shapeOf(documents)
      connection.exec(`DELETE FROM ${table}`)
      for (const document of documents)
        connection.run(
          `INSERT INTO ${table} (guid, created, updated, removed, version, doc)
           SELECT m ->> 'guid', m ->> 'cms', m ->> 'ums', m ->> 'removed', 1, ? FROM (SELECT ? AS m)`,
          JSON.stringify(document),
          JSON.stringify(document._meta),
        )
    },
    aggregate: (aggregate) =>
      aggregateDocuments(connection, { id: 1, table, textTable: undefined, shape }, aggregate, indexes),
    close: () => connection.close(),
  }
}

function recorded(documents: readonly JsonObject[]): DocumentShape {
  const shape = emptyShape()
  for (const document of documents) noteShape(shape, document)
  return shape
}

describe.each([
  ['tidy documents', aggregatedBodies(tidyBody, true)],
  ['untidy documents', aggregatedBodies(untidyBody, false)],
])('%s', (_, bodies) => {
  test.each([
    ['as it was noted, indexes', recorded, true],
    ['as it was noted', recorded, false],
    ['open', () => openShape(), false],
  ])('shape %s', async (_name, shapeOf, isIndexed) => {
    const world = openWorld(isIndexed, shapeOf)
    await fc.assert(aggregateAgreement(world, bodies), { numRuns: 250 })
    world.close()
  })
})

test('this can fail: it notices a shape that claims to have seen numbers only', async () => {
  const shapeOf: ShapeOf = () =>
    loadShape(['count', 'amount', 'status'].map((field) => ({ field, types: NUMBER })))
  const world = openWorld(false, shapeOf)
  const outcome = await fc.check(aggregateAgreement(world, aggregatedBodies(untidyBody, false)), {
    numRuns: 3_000,
    endOnFailure: true,
  })
  expect(outcome.failed).toBe(true)
  world.close()
})
