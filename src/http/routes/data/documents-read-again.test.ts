/** What Quoin writes, Quoin reads again: documents with values of every type, through files of each format. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { valuesOfTypes } from '../../../../test/values-of-types.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { fieldTypeEntries, fieldTypes } from '../../../shared/fields/field-type.ts'
import { XLSX } from '../../../shared/files/file-types.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let fixture: DocumentServer
const by = { guid: 'u', username: 'u' }

beforeAll(async () => {
  fixture = await openDocumentServer()
})
afterAll(() => fixture.close())

test.each([
  ['csv', 'text/csv'],
  ['xlsx', XLSX],
  ['ndjson', 'application/x-ndjson'],
])('documents that are exported as %s and imported are the same', async (format, type) => {
  const [from, to] = [`written_${format}`, `read_${format}`]
  const makers = await makersOf(`makers_${format}`)
  for (const name of [from, to]) {
    await fixture.make(name)
    for (const [at, [field]] of valuesOfTypes.entries())
      await createField(fixture.database, { ...field, name: `f${at}`, storage: name }, by)
    const reference = { storage: `makers_${format}`, on_delete: 'refuse' }
    await createField(fixture.database, { name: 'maker', type: 'reference', storage: name, reference }, by)
  }
  const path = (name: string) => `/_system/storages/${name}/documents`
  const documents: JsonObject[] = valuesOfTypes.flatMap(([_field, values], at) =>
    values.map((value) => ({ [`f${at}`]: value })),
  )
  for (const maker of makers) documents.push({ maker })
  for (const document of documents)
    expect(
      (await fixture.send('POST', path(from), 'admin', { body: document })).status,
      JSON.stringify(document),
    ).toBe(200)
  const columns = JSON.stringify(['maker', ...valuesOfTypes.map((_kind, at) => `f${at}`)])
  const query = new URLSearchParams({ format, ...(format !== 'ndjson' && { columns, references: 'name' }) })
  const file = await fixture.send('GET', `${path(from)}/export?${query}`, 'admin')
  const input = format === 'ndjson' ? file.text.replaceAll(/"_meta":\{[^}]*\},?/g, '') : file.bytes
  const reply = await fixture.send('POST', `${path(to)}/import`, 'admin', { raw: input, type })
  expect(reply.body).toEqual({ imported: documents.length })
  expect(await storedIn(to)).toEqual(await storedIn(from))
  expect(await storedIn(to)).toHaveLength(documents.length)
})

const names = ['Acme', '=1+1', 'a;b', "'x", ' spaced ', '01900000-0000-7000-8000-000000000009', '31.1.2026']

/** Guids of documents whose names are read as others where that is possible, and of one without a name. */
async function makersOf(storage: string): Promise<readonly string[]> {
  await fixture.make(storage)
  await createField(fixture.database, { name: 'name', type: 'string', unique: true, storage }, by)
  const guids: string[] = []
  for (const body of [...names.map((name) => ({ name })), {}]) {
    const made = await fixture.send('POST', `/_system/storages/${storage}/documents`, 'admin', { body })
    guids.push(textAt(made.body, '_meta', 'guid'))
  }
  return guids
}

test('a reference is written by its name where that is asked for, and by its guid where an import would not find it', async () => {
  const [acme = '', ...others] = await makersOf('makers')
  await fixture.make('things')
  const reference = { storage: 'makers', on_delete: 'refuse' }
  await createField(fixture.database, { name: 'maker', type: 'reference', storage: 'things', reference }, by)
  const path = '/_system/storages/things/documents'
  for (const maker of [acme, ...others]) await fixture.send('POST', path, 'admin', { body: { maker } })
  const lines = async (query: string) =>
    (await fixture.send('GET', `${path}/export?format=csv&${query}`, 'admin')).text
      .trim()
      .split('\r\n')
      .slice(1)
  expect(await lines('references=guid')).toEqual([acme, ...others])
  expect(await lines('')).toEqual([acme, ...others])
  expect(await lines('references=name')).toEqual([
    'Acme',
    "'=1+1",
    'a;b',
    "'x",
    others[3],
    others[4],
    '31.1.2026',
    others[6],
  ])
})

async function storedIn(name: string): Promise<readonly JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const found = await fixture.database.session().find(name, search({ sort, limit: 1000 }))
  return objectsIn(found.documents.value).map(({ _meta, ...document }) => document)
}

test('there are values of every type, but for those that Quoin gives itself and references', () => {
  const tried = new Set(valuesOfTypes.map(([{ type }]) => type))
  const others = fieldTypes.filter((type) => !fieldTypeEntries[type].automatic && !tried.has(type))
  expect(others).toEqual(['reference'])
})
