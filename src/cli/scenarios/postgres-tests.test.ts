/** `quoin test --engine postgres`: each test has a copy of one database of its own, on a real server, and nothing of them is left. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresPort } from '../../../test/postgres/shared-postgres.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'

const words = ['test', 'examples/tasks', '--engine', 'postgres']
const stranger = 'tests_without_rights'

let address: (user: string) => string
let admin: Client
beforeAll(async () => {
  const port = await postgresPort()
  address = (user) => `postgres://${user}@127.0.0.1:${port}/postgres`
  admin = new Client({ connectionString: address('quoin') })
  await admin.connect()
  await admin.query(`DROP ROLE IF EXISTS ${stranger}`)
  await admin.query(`CREATE ROLE ${stranger} LOGIN`)
})
afterAll(async () => {
  await admin?.query(`DROP ROLE IF EXISTS ${stranger}`)
  await admin?.end()
})

async function madeDatabases(): Promise<string[]> {
  const { rows } = await admin.query(
    `SELECT datname FROM pg_database WHERE datname LIKE 'quoin\\_test\\_%' ORDER BY 1`,
  )
  return rows.map(({ datname }) => String(datname))
}

test.each([
  ['no address', () => '', 'Set DATABASE_URL to the address of a PostgreSQL'],
  [
    'a server that does not answer',
    () => 'postgres://someone:hidden@127.0.0.1:1/any',
    'The PostgreSQL at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1.',
  ],
  [
    'a user who may not make a database',
    () => address(stranger),
    `The user ${stranger} may not create databases at 127.0.0.1. Use another user, or allow it: ALTER ROLE ${stranger} CREATEDB.`,
  ],
])('%s is refused in one line, before anything is made', async (_, url, message) => {
  const before = await madeDatabases()
  const { code, printed, complained } = await quoinCommand(words, { DATABASE_URL: url() })
  expect([code, printed, complained.split('\n').length]).toEqual([1, '', 1])
  expect(complained).toContain(message)
  expect(complained).not.toContain('hidden')
  expect(await madeDatabases()).toEqual(before)
})

test('an engine that there is not is refused', async () => {
  const { code, complained } = await quoinCommand([...words.slice(0, 3), 'mysql'])
  expect([code, complained]).toEqual([
    2,
    expect.stringContaining('--engine must be one of sqlite, postgres.'),
  ])
})

test('the tests of an example pass on PostgreSQL, each from the beginning, and leave no database', async () => {
  const before = await madeDatabases()
  const { code, printed, complained } = await quoinCommand([...words, '--coverage'], {
    DATABASE_URL: address('quoin'),
  })
  expect(printed.split('\n').filter((line) => !line.startsWith('ok  '))).toEqual([
    expect.stringMatching(/^4 tests, 0 failed, /),
  ])
  expect(complained).toBe('Coverage: 21 of 21 ways, 100 %.')
  expect(code).toBe(0)
  expect(await madeDatabases()).toEqual(before)
})

test('a test that uploads a file passes: it lies in the folder of the test, with no bucket', async () => {
  const { code, printed } = await quoinCommand(
    ['test', 'examples/crm', '--filter', 'Customers of a CSV file', '--engine', 'postgres'],
    { DATABASE_URL: address('quoin') },
  )
  expect(printed.split('\n')).toEqual([
    expect.stringContaining('ok   Customers of a CSV file are added'),
    expect.stringMatching(/^1 tests?, 0 failed, /),
  ])
  expect(code).toBe(0)
})
