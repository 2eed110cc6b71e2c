/**
 * `node bench/text-totals.ts`: documents a second that one transaction inserts with the totals of free text, of 20,000 and of
 * 80,000, with the trigger of today and with the one before it. Ends with 1 when today's is slower with more documents: a third less
 * is taken as noise.
 */
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { textTriggerSql } from '../src/storage/postgres/core/document-row.ts'
import { openPostgresServer } from '../test/postgres/postgres-server.ts'

const COUNTS = [20_000, 80_000]
const BEFORE = ['0002-search.sql', '0009-totals-by-number.sql']
const TODAY = [...BEFORE, '0014-totals-in-one-pass.sql']

const migrations = new URL('../src/storage/postgres/core/migrations/', import.meta.url)
const insert = 'INSERT INTO doc SELECT 3 FROM generate_series(1, $1::integer)'

async function rates(url: string, steps: readonly string[]): Promise<number[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    for (const step of steps) await client.query(await readFile(new URL(step, migrations), 'utf8'))
    await client.query('CREATE TABLE doc (token_count integer)')
    await client.query(textTriggerSql({ id: 1, table: 'doc' }))
    const rates: number[] = []
    for (const count of COUNTS) {
      await client.query('TRUNCATE doc, text_total')
      const begun = performance.now()
      await client.query(insert, [count])
      rates.push(Math.round(count / ((performance.now() - begun) / 1000)))
    }
    return rates
  } finally {
    await client.end()
  }
}

const shown = (name: string, found: readonly number[]) =>
  console.log(`${name}: ${found.map((rate, n) => `${rate} a second of ${COUNTS[n]}`).join(', ')}`)
const server = await openPostgresServer()
try {
  const url = server.url('postgres')
  shown('before', await rates(url, BEFORE))
  const today = await rates(url, TODAY)
  shown('today', today)
  const [few = 0, many = 0] = today
  process.exitCode = many < few * (2 / 3) ? 1 : 0
} finally {
  await server.close()
}
