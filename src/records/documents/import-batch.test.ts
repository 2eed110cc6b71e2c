import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { transact } from '../../storage/transact.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { createRows, guidsOf, hashesOf } from './import-batch.ts'
import type { ImportRow } from './import-rows.ts'

let database: Database
let close: () => Promise<void>
let ann: string
const key = { name: 'name', fields: [{ name: 'name', ignoreCase: true, ignoreAccents: false }] }

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  for (const name of ['customers', 'orders']) await database.ensure(name)
  await database.capabilities.uniqueValues.keep('customers', key)
  const create = (name: string) =>
    transact(database, (session) => session.create('customers', setFields({ name })))
  ann = guidOf(documentOf(await create('Ann')))
  await create('Bob')
})
afterAll(() => close())

/** Counts the names that are looked up. */
class CountingSession extends TransparentSession {
  looked = 0

  override findByUniqueKey(...asked: Parameters<TransparentSession['findByUniqueKey']>) {
    this.looked += 1
    return super.findByUniqueKey(...asked)
  }
}

test('a name that many rows of a batch have is looked up once, also one that is not there', async () => {
  const session = new CountingSession(database.session())
  const named = [{ path: 'customer.name', field: 'customer', storage: 'customers', by: ['name'] }]
  const rows = Array.from({ length: 200 }, (_, n): ImportRow => {
    const name = n % 100 === 50 ? 'Nemo' : n % 2 === 0 ? 'Ann' : 'Bob'
    return {
      line: n + 1,
      size: 1,
      named,
      read: () => ({ document: { n, 'customer.name': name }, reasons: {} }),
    }
  })
  const refused: number[] = []
  const created = await createRows(session, 'orders', rows, ({ line }) => void refused.push(line))
  expect([session.looked, refused, created.length]).toEqual([3, [51, 151], 198])
  expect(created[0] && documentOf(created[0].document)).toMatchObject({
    n: 0,
    customer: ann,
  })
  await session.transaction.rollback()
})

test('of what was made only _meta is read, however large a document is', () => {
  const row: ImportRow = { line: 1, size: 1, read: () => ({ document: {}, reasons: {} }) }
  const document = new StoredJson(
    '{"_meta":{"guid":"g","update_hash":"h"},"a":"of which the rest cannot be parsed',
  )
  expect([guidsOf([{ row, document }]), hashesOf([{ row, document }])]).toEqual([['g'], ['h']])
})
