/** quoin rows import: on the data directory while no server runs, and over HTTP while one does. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword } from '../../../test/end-to-end/harness.ts'
import { type CommandEnd, quoinCommand } from '../../../test/recording-terminal.ts'
import { type Cell, xlsxFile } from '../../blocks/rows/xlsx-file.ts'
import { readOptions } from '../../options/options.ts'
import { openQuoin, type Quoin } from '../../quoin/quoin.ts'
import { createField } from '../../records/fields/field-records.ts'
import { createStorage } from '../../records/storage-records.ts'
import { isJsonObject } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'

const workbook = (rows: readonly (readonly Cell[])[]) => buffer(Readable.from(xlsxFile(Readable.from(rows))))
const by = { guid: '', username: 'ann' }

describe.each(['over HTTP', 'on the data directory'] as const)('%s', (where) => {
  let directory: string
  let environment: Record<string, string>
  let flags: string[] = []
  let server: Quoin | undefined

  const open = () =>
    openQuoin(readOptions(environment), {
      clock: Date.now,
      random: (bytes) => void randomFillSync(bytes),
      synchronous: 'OFF',
    })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    environment = {
      QUOIN_DATA: join(directory, 'data'),
      QUOIN_PORT: '0',
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_LOG_LEVEL: 'silent',
    }
    server = await open()
    await createStorage(server.documents, { name: 'people' }, by)
    const name = { name: 'name', type: 'string', storage: 'people', required: true }
    await createField(server.database, name, by)
    await createField(server.database, { name: 'age', type: 'decimal', storage: 'people' }, by)
    if (where === 'over HTTP') {
      flags = ['--url', await server.server.listen()]
      const signIn = { username: 'admin', password: adminPassword, ip: '127.0.0.1' }
      environment.QUOIN_TOKEN = (await server.access.signIn(signIn)).access_token
      return
    }
    await server.close()
    server = undefined
  })
  afterAll(async () => {
    await server?.close()
    await rm(directory, { recursive: true, force: true })
  })

  async function imported(
    words: readonly string[],
    name = '',
    content: string | Buffer = '',
  ): Promise<CommandEnd> {
    const path = join(directory, name)
    if (name !== '') await writeFile(path, content)
    return quoinCommand(['rows', 'import', ...words, ...(name === '' ? [] : [path]), ...flags], environment)
  }

  async function people(): Promise<unknown[]> {
    const quoin = server ?? (await open())
    try {
      const sort = [{ field: 'name', order: 'asc', missing: 'last' }] as const
      const found = await quoin.database
        .session()
        .find('people', search({ query: matchAll, sort, limit: 100 }))
      const list = found.documents.value
      return Array.isArray(list) ? list.filter(isJsonObject).map((one) => [one.name, one.age, one.more]) : []
    } finally {
      if (!server) await quoin.close()
    }
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
        'line 2: age: The value of age is not a number.',
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
        'line 3: age: The value of age is not a number.\nLeft out 1 line, of which at most 100 are listed.',
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
})
