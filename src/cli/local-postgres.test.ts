/** Commands without --url where the data is in PostgreSQL: beside a node that runs, and in a database without Quoin. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, signInAt } from '../../test/command-fixture.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../test/temporary-database.ts'
import { openPostgresPool } from '../storage/postgres/core/postgres-connection.ts'

let temporary: TemporaryDatabase
let empty: TemporaryDatabase
let fixture: CommandFixture

beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  empty = await openTemporaryDatabase()
  const settings = { DATABASE_URL: temporary.url, QUOIN_POOL: '4', QUOIN_SECRETS_KEY: '0f'.repeat(32) }
  fixture = await openCommandFixture('over HTTP', { settings })
})
afterAll(async () => {
  await fixture.close()
  await temporary.drop()
  await empty.drop()
})

/** On another machine than the node's: with a folder of its own, in which nothing is. */
const onPostgres = (words: readonly string[], url: string, input?: string) =>
  quoinCommand(words, { ...fixture.environment, DATABASE_URL: url, QUOIN_DATA: fixture.file('other') }, input)

test.each([
  {
    what: 'has no Quoin',
    url: () => empty.url,
    says: /^There is no Quoin data in PostgreSQL at .*Set DATABASE_URL/,
  },
  {
    what: 'is not there',
    url: () => empty.url.replace(/[^/]+$/, 'nowhere'),
    says: /^PostgreSQL at 127\.0\.0\.1:\d+\/nowhere cannot be used: /,
  },
])('a database that $what is left as it is', async ({ url, says }) => {
  const end = await onPostgres(['user', 'create', 'ann', '--password-stdin'], url(), 'the first password')
  expect(end).toMatchObject({ code: 1, printed: '', complained: expect.stringMatching(says) })
  expect(end.complained.split('\n')).toHaveLength(1)
})

test('nothing was made in the database without Quoin', async () => {
  const pool = openPostgresPool({ url: empty.url, connections: 2, pooled: false })
  const tables = await pool.rows(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
  await pool.close()
  expect(tables).toEqual([])
})

test('a user is made and gets another password beside a node, which knows it at once', async () => {
  const made = await onPostgres(
    ['user', 'create', 'bea', '--password-stdin'],
    temporary.url,
    'the first password',
  )
  expect(made).toMatchObject({ code: 0, complained: '' })
  const reset = ['user', 'reset-password', 'bea', '--password-stdin']
  expect(await onPostgres(reset, temporary.url, 'another password')).toMatchObject({
    code: 0,
    complained: '',
  })
  await fixture.inside(async (quoin) => {
    await expect(signInAt(quoin, 'bea', 'the first password')).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    })
    expect(await signInAt(quoin, 'bea', 'another password')).toMatchObject({ user: { username: 'bea' } })
  })
})

test('so it does from the folder in which the node runs', async () => {
  const words = ['user', 'reset-second-factor', 'bea']
  const end = await quoinCommand(words, fixture.environment)
  expect(end).toMatchObject({ code: 1, complained: 'This user has no second factor.' })
})
