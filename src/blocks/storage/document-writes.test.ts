import { afterAll, beforeAll, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import createDocument from './function_create_document_from_mutations.ts'
import updateDocument from './function_update_document_mutations.ts'

let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('goods')
  const fields = [{ name: 'sku', ignoreCase: false, ignoreAccents: false }]
  await database.capabilities.uniqueValues.keep('goods', { name: 'sku', fields })
})
afterAll(() => close())

test('a write with a value of another document continues at conflict, and the run may commit the rest', async () => {
  const session = database.session()
  const document = (sku: string) => session.create('goods', setFields({ sku }))
  await document('a')
  const guid = guidOf(documentOf(await document('b')))
  const inputs = { storage: 'goods', set: { sku: 'a' } }
  const created = await runBlock(createDocument, { session, inputs })
  expect([created.next, created.outputs.taken, created.outputs.document]).toEqual([
    'conflict',
    ['sku'],
    undefined,
  ])
  const updated = await runBlock(updateDocument, { session, inputs: { ...inputs, guid } })
  expect([updated.next, updated.outputs.taken]).toEqual(['conflict', ['sku']])
  expect(updated.outputs.document).toMatchObject({ value: { _meta: { guid }, sku: 'b' } })
  const kept = await runBlock(updateDocument, { session, inputs: { ...inputs, set: { sku: 'c' }, guid } })
  expect(kept.next).toBe('flow')
  await session.transaction.commit()
  expect(await database.session().count('goods', matchAll)).toBe(2)
})
