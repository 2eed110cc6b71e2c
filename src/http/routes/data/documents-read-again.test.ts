/** What Quoin writes, Quoin reads again: documents with values of every type, through files of each format. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { fieldTypeEntries, fieldTypes } from '../../../shared/fields/field-type.ts'
import { XLSX } from '../../../shared/files/table-types.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import { isOneLine } from '../../../shared/texts/one-line.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let room: DocumentServer
const by = { guid: 'u', username: 'u' }

beforeAll(async () => {
  room = await openDocumentServer()
})
afterAll(() => room.close())

const FILE = { guid: '01900000-0000-7000-8000-000000000001', name: 'a.pdf', type: 'application/pdf', size: 1 }
const odd = [
  '',
  ' ',
  "'",
  "'=1",
  '=1+1',
  '-',
  '@a',
  '\ta',
  ' a ',
  '"',
  'a;b',
  'a,b',
  'x\r\ny\rz',
  '_x0041_',
  '007',
  'true',
  '[1]',
  '\u000b',
  '31.1.2026',
  '(5)',
  '5 %',
  '="1"',
]
const kinds: readonly [JsonObject, readonly JsonValue[]][] = [
  [{ type: 'string' }, odd],
  [{ type: 'long_text' }, odd],
  [{ type: 'line' }, odd.filter(isOneLine)],
  [{ type: 'number' }, [0, -0.1, 1e21, 1e-7, 5e-324, 9_007_199_254_740_991, 0.30000000000000004]],
  [{ type: 'integer' }, [0, -5, 9_007_199_254_740_991]],
  [{ type: 'decimal', validation_rules: { places: 4 } }, [0.0001, -12.5, 1000]],
  [{ type: 'boolean' }, [true, false]],
  [{ type: 'object' }, [{}, { a: { b: [1, '=x', null] } }]],
  [{ type: 'array' }, [[], [''], [1, '1', true, null], ['a', 'b'], ['a,b'], ['a;b'], ['=a'], [{ a: 1 }]]],
  [
    { type: 'list', validation_rules: { items: 'string' } },
    [[], ['a', 'b'], ['a,b'], [' a'], ['[1]'], ['1']],
  ],
  [{ type: 'list', validation_rules: { items: 'number' } }, [[], [1.5, -2], [1]]],
  [{ type: 'date' }, ['2026-01-31', '2026-01-31T09:00:00Z', 1_769_817_600]],
  [{ type: 'day' }, ['2026-01-31', '0001-01-01']],
  [{ type: 'instant' }, ['2026-01-31T09:00:00.123Z', '2026-01-31T09:00+05:30']],
  [{ type: 'choice', validation_rules: { choices: ['a', 2, '=b'] } }, ['a', 2, '=b']],
  [{ type: 'choices', validation_rules: { choices: ['a', 2, 'b;c'] } }, [[], ['a'], ['a', 2], ['b;c']]],
  [{ type: 'email' }, ['ann@example.com']],
  [{ type: 'url' }, ['https://example.com/?a=1;2,3']],
  [{ type: 'phone' }, ['+49 30 123456']],
  [{ type: 'file' }, [FILE]],
  [{ type: 'files' }, [[], [FILE, FILE]]],
]

test.each([
  ['csv', 'text/csv'],
  ['xlsx', XLSX],
  ['ndjson', 'application/x-ndjson'],
])('documents that are exported as %s and imported are the same', async (format, type) => {
  const [from, to] = [`written_${format}`, `read_${format}`]
  for (const name of [from, to]) {
    await room.make(name)
    for (const [at, [field]] of kinds.entries())
      await createField(room.database, { ...field, name: `f${at}`, storage: name }, by)
  }
  const path = (name: string) => `/_system/storages/${name}/documents`
  const documents = kinds.flatMap(([_field, values], at) => values.map((value) => ({ [`f${at}`]: value })))
  for (const document of documents)
    expect(
      (await room.send('POST', path(from), 'admin', { body: document })).status,
      JSON.stringify(document),
    ).toBe(200)
  const columns = JSON.stringify(kinds.map((_kind, at) => `f${at}`))
  const query = new URLSearchParams({ format, ...(format !== 'ndjson' && { columns }) })
  const file = await room.send('GET', `${path(from)}/export?${query}`, 'admin')
  const given = format === 'ndjson' ? file.text.replaceAll(/"_meta":\{[^}]*\},?/g, '') : file.bytes
  const reply = await room.send('POST', `${path(to)}/import`, 'admin', { raw: given, type })
  expect(reply.body).toEqual({ imported: documents.length })
  expect(await storedIn(to)).toEqual(await storedIn(from))
  expect(await storedIn(to)).toHaveLength(documents.length)
})

async function storedIn(name: string): Promise<readonly JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const found = await room.database.session().find(name, search({ sort, limit: 1000 }))
  return objectsIn(found.documents.value).map(({ _meta, ...document }) => document)
}

test('there are values of every type, but for those that Quoin gives itself and references', () => {
  const tried = new Set(kinds.map(([{ type }]) => type))
  const others = fieldTypes.filter((type) => !fieldTypeEntries[type].automatic && !tried.has(type))
  expect(others).toEqual(['reference'])
})
