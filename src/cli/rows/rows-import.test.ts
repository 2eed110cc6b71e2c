/** quoin rows import: on the data directory while no server runs, and over HTTP while one does. */
import { readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places } from '../../../test/command-fixture.ts'
import type { CommandEnd } from '../../../test/recording-terminal.ts'
import { type Cell, xlsxFile } from '../../blocks/rows/xlsx-file.ts'
import { createField } from '../../records/fields/field-records.ts'
import { createStorage } from '../../records/storage-records.ts'
import { isJsonObject } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'

const workbook = (rows: readonly (readonly Cell[])[]) => buffer(Readable.from(xlsxFile(Readable.from(rows))))
const by = { guid: '', username: 'ann' }

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where, {
      async prepare({ documents, database }) {
        await createStorage(documents, { name: 'people' }, by)
        const name = { name: 'name', type: 'string', storage: 'people', required: true }
        await createField(database, name, by)
        await createField(database, { name: 'age', type: 'decimal', storage: 'people' }, by)
      },
    })
  })
  afterAll(() => fixture.close())

  async function imported(
    words: readonly string[],
    name = '',
    content: string | Buffer = '',
  ): Promise<CommandEnd> {
    const path = fixture.file(name)
    if (name !== '') await writeFile(path, content)
    return fixture.run(['rows', 'import', ...words, ...(name === '' ? [] : [path])])
  }

  function people(): Promise<unknown[]> {
    return fixture.inside(async ({ database }) => {
      const sort = [{ field: 'name', order: 'asc', missing: 'last' }] as const
      const found = await database.session().find('people', search({ query: matchAll, sort, limit: 100 }))
      const list = found.documents.value
      return Array.isArray(list) ? list.filter(isJsonObject).map((one) => [one.name, one.age, one.more]) : []
    })
  }

  test.each<[string, string[], string, string, number, string[]]>([
    ['no file', ['people', 'nowhere.csv'], '', '', 1, ['There is no file nowhere.csv.']],
    ['no storage', ['villages'], 'a.csv', 'name\nAnn\n', 1, ['There is no storage "villages".']],
    ['too few words', ['people'], '', '', 2, []],
    [
      'a mapping that is no JSON',
      ['people', '--mapping', '{'],
      'a.csv',
      'name\nAnn\n',
      1,
      ['mapping must be a JSON object'],
    ],
    [
      'a separator that is not known',
      ['people', '--separator', 'dot'],
      'a.csv',
      'name\nAnn\n',
      1,
      ['separator'],
    ],
    ['a workbook that is none', ['people'], 'a.xlsx', 'name\n', 1, []],
    [
      'bad lines',
      ['people'],
      'a.csv',
      'name,age\nAnn,old\n,4\nBob,7\n',
      1,
      [
        'line 2: age: The value of age is not a number. It is "old".',
        'line 3: name: name is required and must not be empty.',
      ],
    ],
    ['a bad line of JSON', ['people'], 'a.ndjson', '{"name":"Ann"}\n{"name":', 1, ['line 2: ']],
  ])('%s is refused, and nothing is imported', async (_what, words, name, content, code, lines) => {
    const end = await imported(words, name, content)
    expect([end.code, end.printed]).toEqual([code, ''])
    for (const line of lines) expect(end.complained).toContain(line)
    expect(end.complained).not.toBe('')
    expect(await people()).toEqual([])
  })

  test('CSV, NDJSON and XLSX become documents, with a mapping and without refused lines', async () => {
    const csv = await imported(
      ['people', '--decimal', 'comma', '--skip-invalid', '--mapping', '{"Who":"name","Note":null}'],
      'a.csv',
      'Who;age;Note\nAnn;"1,5";x\nBob;old;y\n',
    )
    expect(csv).toEqual({
      code: 0,
      printed: 'Imported 1 document.',
      complained:
        'line 3: age: The value of age is not a number. It is "old".\nLeft out 1 line, of which at most 100 are listed.',
    })
    const ndjson = await imported(
      ['people'],
      'b.ndjson',
      '{"name":"Cid","more":[1]}\n{"name":"Dan","age":4}\n',
    )
    expect(ndjson).toEqual({ code: 0, printed: 'Imported 2 documents.', complained: '' })
    const xlsx = await imported(
      ['people'],
      'c.xlsx',
      await workbook([
        ['name', 'age'],
        ['Eve', 9],
      ]),
    )
    expect(xlsx).toEqual({ code: 0, printed: 'Imported 1 document.', complained: '' })
    expect(await people()).toEqual([
      ['Ann', 1.5, undefined],
      ['Cid', undefined, [1]],
      ['Dan', 4, undefined],
      ['Eve', 9, undefined],
    ])
  })

  test('refused lines are written into a file with their reasons, and imported from it when they are mended', async () => {
    const before = (await people()).length
    const path = fixture.file('refused.csv')
    const first = await imported(
      ['people', '--header', '2', '--refused', path],
      'a.csv',
      'People\nname,age\nFay,old\nGil,7\n',
    )
    expect([first.code, first.complained]).toEqual([1, expect.stringContaining('line 3: age: ')])
    const text = await readFile(path, 'utf8')
    expect(text).toBe(
      '\ufeffname,age,_meta.line,_meta.reasons\r\nFay,old,3,The value of age is not a number.\r\n',
    )
    expect(await people()).toHaveLength(before)
    const second = await imported(['people'], 'b.csv', text.replace('old', '41'))
    expect(second).toEqual({ code: 0, printed: 'Imported 1 document.', complained: '' })
    expect(await people()).toContainEqual(['Fay', 41, undefined])
  })
})
