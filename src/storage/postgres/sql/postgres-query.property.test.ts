/**
 * The compiler against the reference: for random documents and searches PostgreSQL finds the same documents in the same
 * order, with and without indexes.
 */
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { someFields, tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { openSearchWorld } from '../../../../test/postgres/search-world.ts'
import { agreement } from '../../../../test/search-agreement.ts'
import { whereAgreement } from '../../../../test/where-agreement.ts'

/** Of the runs: all of them where all is asked for (`npm run torture`). */
const share = inject('thorough') ? 1 : 0.5

const indexes = [
  ...someFields.map((field) => [field]),
  ['status', 'count'],
  ['status COLLATE "sv"'],
  ['count', 'nested.name COLLATE "und"'],
  ['nested.name', 'status', 'count'],
  ['count', '_meta.created', '_meta.guid'],
]

describe.each([
  ['tidy documents', tidyBody],
  ['untidy documents', untidyBody],
])('%s', (_, bodies) => {
  test.each([
    ['over expressions', true],
    ['none', true],
    ['over expressions', false],
    ['over key columns', false],
  ])('indexes %s, free-text index %s', async (indexed, text) => {
    const avoid = ['seqscan', 'bitmapscan'] as const
    const columns = indexed === 'over key columns'
    const world = await openSearchWorld(
      indexed === 'none' ? { indexes: [], text } : { indexes, columns, text, avoid },
    )
    try {
      // 600 runs each found nothing more, in a minute and a half.
      await fc.assert(agreement(world, bodies), { numRuns: 40 * share })
      await fc.assert(whereAgreement(bodies, world), { numRuns: 26 * share })
    } finally {
      await world.close()
    }
  })
})

test.each([
  ['quoin_odd(item json) RETURNS boolean', 'false', false],
  ['quoin_column_key(item json, guid text) RETURNS text', 'quoin_key(item)', true],
])('this can fail: it notices a search that does not ask for odd values, %s', async (name, body, columns) => {
  const world = await openSearchWorld({ indexes, columns, text: true })
  try {
    await world.connection.run(
      `CREATE OR REPLACE FUNCTION ${name} LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT ${body} $$`,
    )
    const outcome = await fc.check(agreement(world, untidyBody), { numRuns: 1_000, endOnFailure: true })
    expect(outcome.failed).toBe(true)
  } finally {
    await world.close()
  }
})
