import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { matchAll } from '../../../shared/query.ts'
import { guidOf } from '../../../storage/document-fields.ts'
import { findAll } from '../../../storage/find-documents.ts'

let fixture: DocumentServer
beforeAll(async () => {
  fixture = await openDocumentServer()
  const rule = { storage: 'ruled', name: 'n', type: 'number', required: true } as const
  await createField(fixture.database, rule, { guid: '', username: 'admin' })
})
afterAll(() => fixture.close())

const add = (storage: string, documents: JsonObject[]) =>
  fixture.send('POST', '/_system/storages/samples', 'admin', { body: { storage, documents } })
const count = (name: string) => fixture.database.session().count(name, matchAll, true)
const numbered = (many: number) => Array.from({ length: many }, (_, n) => ({ n }))

test.each([
  ['_user', numbered(1)],
  ['My Things', numbered(1)],
  ['things', numbered(2_001)],
  ['things', [1]],
])('%s is refused', async (storage, documents) => {
  expect(
    (await fixture.send('POST', '/_system/storages/samples', 'admin', { body: { storage, documents } }))
      .status,
  ).toBe(400)
  expect(fixture.database.has('things')).toBe(false)
})

test('one that does not fit is named by its number, and nothing is stored', async () => {
  const refused = await add('ruled', [...numbered(150), { n: 'many' }, ...numbered(10)])
  expect(refused).toMatchObject({
    status: 400,
    body: { error: 'INVALID_BODY', message: 'Document 151 for ruled: n must be a number.', fields: ['n'] },
  })
  expect(await count('ruled')).toBe(0)
})

test('they are stored once: not a second time, and not after they were removed', async () => {
  const both = await Promise.all([add('once', numbered(250)), add('once', numbered(250))])
  expect(both.map(({ body }) => body)).toEqual(expect.arrayContaining([{ imported: 250 }, { imported: 0 }]))
  expect(await count('once')).toBe(250)
  const session = fixture.database.session()
  for (const one of await findAll(session, 'once', matchAll, 250))
    await session.setRemoved('once', guidOf(one), true)
  await session.transaction.commit()
  expect((await add('once', numbered(3))).body).toEqual({ imported: 0 })
  expect(await count('once')).toBe(250)
})

test('a document of a user keeps them out', async () => {
  await add('kept', [])
  const named = await fixture.send('POST', '/_system/storages/search', 'admin', {
    body: { filters: { name: 'kept' } },
  })
  expect(named.body).toMatchObject([{ name: 'kept' }])
  const session = fixture.database.session()
  await session.create('kept', [])
  await session.transaction.commit()
  expect((await add('kept', numbered(3))).body).toEqual({ imported: 0 })
  expect(await count('kept')).toBe(1)
})
