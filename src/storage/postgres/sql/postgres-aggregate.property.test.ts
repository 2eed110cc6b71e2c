/** The aggregates of PostgreSQL against the plain evaluator, with and without indexes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type AggregateWorld,
  aggregateAgreement,
  aggregatedBodies,
} from '../../../../test/aggregate-agreement.ts'
import { someFields, tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { openSearchWorld } from '../../../../test/postgres/search-world.ts'
import { aggregateDocuments } from './postgres-aggregate.ts'

async function openWorld(
  indexes: readonly (readonly string[])[],
  columns = false,
): Promise<AggregateWorld & { close(): Promise<void> }> {
  const world = await openSearchWorld({ indexes, columns, text: false, avoid: ['seqscan'] })
  return {
    fill: (documents) => world.fill(documents),
    aggregate: (aggregate) => aggregateDocuments(world.connection, world.target, aggregate),
    close: () => world.close(),
  }
}

const tidy = aggregatedBodies(tidyBody, true)
const untidy = aggregatedBodies(untidyBody, false)

/** An index of each field that is asked for, so that figures are of key columns. */
const all = [...someFields, 'amount', 'at'].map((field) => [field])
const some = [['status'], ['count', 'amount'], ['status', 'amount'], ['amount', 'count', 'status']]

test.each([
  ['tidy documents, indexes over expressions', tidy, some, false],
  ['untidy documents, indexes over expressions', untidy, some, false],
  ['tidy documents, indexes over key columns', tidy, all, true],
  ['untidy documents, indexes over key columns', untidy, all, true],
  ['untidy documents, indexes of some fields over key columns', untidy, some, true],
  ['untidy documents', untidy, [], false],
])('%s', async (_, bodies, indexes, columns) => {
  const world = await openWorld(indexes, columns)
  try {
    await fc.assert(aggregateAgreement(world, bodies), { numRuns: 120 })
  } finally {
    await world.close()
  }
})

test('this can fail: it notices a time zone that is left out', async () => {
  const world = await openWorld([])
  const inUtc: AggregateWorld = {
    ...world,
    aggregate: (requested) =>
      world.aggregate({ ...requested, groups: requested.groups.map(({ zone: _, ...group }) => group) }),
  }
  try {
    const outcome = await fc.check(aggregateAgreement(inUtc, tidy), { numRuns: 2_000, endOnFailure: true })
    expect(outcome.failed).toBe(true)
  } finally {
    await world.close()
  }
})
