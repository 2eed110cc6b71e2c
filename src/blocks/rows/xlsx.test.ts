import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { fieldCell } from './field-cell.ts'
import type { TableDialect } from './table-text.ts'
import { dayCell, excelDate, instantCell } from './xlsx-dates.ts'
import { type Cell, xlsxFile } from './xlsx-file.ts'
import type { FileBytes } from './xlsx-parts.ts'
import { type SheetRow, xlsxRows } from './xlsx-rows.ts'

const fileOf = (bytes: Buffer): FileBytes => ({
  size: bytes.length,
  read: (start, end) => Readable.from([bytes.subarray(start, end + 1)]),
})

async function written(rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>): Promise<Buffer> {
  async function* input() {
    yield* rows
  }
  return buffer(Readable.from(xlsxFile(input())))
}

async function rowsOf(
  bytes: Buffer,
  found?: (dialect: TableDialect) => void,
  requested?: string,
): Promise<SheetRow[]> {
  const rows: SheetRow[] = []
  for await (const row of xlsxRows(fileOf(bytes), found, requested)) rows.push(row)
  return rows
}

test('amounts are numbers, in cells that show their currency', async () => {
  async function* input() {
    yield ['name', 'dollars', 'yen']
    yield ['Bolt', 1.5, 200]
  }
  const bytes = await buffer(Readable.from(xlsxFile(input(), [undefined, 'USD', 'JPY'])))
  expect((await rowsOf(bytes)).map(({ cells }) => cells)).toEqual([
    ['name', 'dollars', 'yen'],
    ['Bolt', 1.5, 200],
  ])
  const { ZipReader, Uint8ArrayReader, TextWriter } = await import('@zip.js/zip.js')
  const entries = await new ZipReader(new Uint8ArrayReader(bytes)).getEntries()
  const part = async (name: string) => {
    const entry = entries.find((one) => one.filename === name)
    return entry && !entry.directory ? entry.getData(new TextWriter()) : ''
  }
  expect(await part('xl/styles.xml')).toContain('formatCode="#,##0.00\\ [$USD]"')
  expect(await part('xl/styles.xml')).toContain('formatCode="#,##0\\ [$JPY]"')
  expect(await part('xl/worksheets/sheet1.xml')).toContain('<c s="1"><v>1.5</v></c><c s="2"><v>200</v></c>')
})

test.each([
  ['2026-01-31', dayCell, '2026-01-31'],
  ['1900-03-01', dayCell, '1900-03-01'],
  ['9999-12-31', dayCell, '9999-12-31'],
  ['2026-01-31T09:00:01Z', instantCell, '2026-01-31T09:00:01'],
  ['2026-01-31T00:00:00Z', instantCell, '2026-01-31'],
  ['2026-01-31T09:00:00.123Z', instantCell, '2026-01-31T09:00:00.123'],
  ['2026-01-31T00:00:00.000Z', instantCell, '2026-01-31T00:00:00.000'],
] as const)('%s is a date in its cell', async (text, cellOf, read) => {
  const cell = cellOf(text)
  expect(cell?.days).toBeGreaterThan(60)
  async function* input() {
    yield [cell ?? '']
  }
  expect(await rowsOf(await buffer(Readable.from(xlsxFile(input()))))).toEqual([{ line: 1, cells: [read] }])
})

test.each(['1900-02-28', '0001-01-01', '2026-02-30', '2026-1-1', '31.1.2026', 'x'.repeat(5_000)])(
  '%s is no day of a spreadsheet',
  (text) => {
    expect(dayCell(text)).toBeUndefined()
  },
)

test.each([
  '2026-01-31T09:00+05:30',
  '2026-01-31T24:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-31T09:00:00.1Z',
])('%s stays text, which is read as it was', (text) => {
  expect(instantCell(text)).toBeUndefined()
})

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** A workbook as other programs write it, of these parts. */
async function workbook(parts: Readonly<Record<string, string | AsyncGenerator<string>>>): Promise<Buffer> {
  const { ZipWriter, Uint8ArrayWriter, TextReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const zip = new ZipWriter(new Uint8ArrayWriter())
  for (const [name, text] of Object.entries(parts)) {
    if (typeof text === 'string') await zip.add(name, new TextReader(text))
    else await zip.add(name, ReadableStreamOf(text))
  }
  return Buffer.from(await zip.close())
}

function ReadableStreamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
  })
}

const sheet = (rows: string) => `<worksheet ${main}><sheetData>${rows}</sheetData></worksheet>`

describe('what is written is read again', () => {
  test.each<[string, readonly Cell[]]>([
    ['texts', ['a', 'Grüße 😀', 'two\nlines', '  spaces  ', '<&>"\'']],
    ['numbers', [0, -1.5, 1e21, 0.1]],
    ['conditions', [true, false]],
    ['what a spreadsheet would calculate', ['=1+1', '@SUM(A1)', '-2']],
    ['gaps', ['', '', 'c']],
    [
      'characters that XML does not hold',
      ['a\u000b\u001fb', 'x\r\ny\rz', '_x0041_', '_x005F_x000D_', '\uffff'],
    ],
  ])('%s', async (_what, cells) => {
    expect(await rowsOf(await written([cells]))).toEqual([{ line: 1, cells }])
  })

  test('what no text can hold is replaced, and long texts cut', async () => {
    const [row] = await rowsOf(await written([['a\u0000b\ud800', 'x'.repeat(40_000)]]))
    expect(row?.cells).toEqual(['a\ufffdb\ufffd', 'x'.repeat(32_767)])
  })

  test('50,000 rows in order, with few of them asked for before the bytes are taken', async () => {
    let asked = 0
    async function* many() {
      for (asked = 0; asked < 50_000; asked += 1) yield [asked, `row ${asked}`]
    }
    const bytes: Buffer[] = []
    for await (const chunk of xlsxFile(many())) {
      if (bytes.length === 0) expect(asked).toBeLessThan(20_000)
      bytes.push(chunk)
    }
    const rows = await rowsOf(Buffer.concat(bytes))
    expect(rows).toHaveLength(50_000)
    expect(rows.at(-1)).toEqual({ line: 50_000, cells: [49_999, 'row 49999'] })
  })

  test('an error of the rows ends the file', async () => {
    async function* failing() {
      yield ['a']
      throw new Error('no more')
    }
    await expect(written(failing())).rejects.toThrow('no more')
  })
})

describe('workbooks of other programs', () => {
  const office = {
    'xl/workbook.xml': `<workbook ${main} xmlns:r="r"><sheets><sheet name="Data" sheetId="4" r:id="rId7"/><sheet name="Other" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId7" Target="/xl/worksheets/sheet9.xml"/></Relationships>',
    'xl/sharedStrings.xml': `<sst ${main}><si><t>Name</t></si><si><r><t>A</t></r><r><t xml:space="preserve"> b</t></r></si></sst>`,
    'xl/styles.xml': `<styleSheet ${main}><numFmts><numFmt numFmtId="170" formatCode="dd\\.mm\\.yyyy"/><numFmt numFmtId="171" formatCode="0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': sheet('<row><c><v>1</v></c></row>'),
  }

  test('the first sheet, shared and rich texts, dates by their style, gaps, errors and formulas with results', async () => {
    const bytes = await workbook({
      ...office,
      'xl/worksheets/sheet9.xml': sheet(
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"/>' +
          '<row r="3"><c r="A3" s="1"><v>46053</v></c><c r="B3" s="3"><v>46053.5</v></c><c r="C3" s="2"><v>3</v></c>' +
          '<c r="AA3" t="str"><f>A1&amp;B1</f><v>AB</v></c><c r="AB3" t="e"><v>#N/A</v></c></row>',
      ),
    })
    expect(await rowsOf(bytes)).toEqual([
      { line: 1, cells: ['Name', '', 'A b'] },
      {
        line: 3,
        cells: [
          '2026-01-31',
          '2026-01-31T12:00:00',
          3,
          ...Array.from({ length: 23 }, () => ''),
          'AB',
          '#N/A',
        ],
      },
    ])
  })

  test.each([
    ['1', '2015-01-02', 1904],
    ['true', '2015-01-02', 1904],
    ['0', '2011-01-01', 1900],
  ])('with date1904="%s" the day 40544 is %s', async (date1904, day, dates_from) => {
    const book = office['xl/workbook.xml'].replace('<sheets>', `<workbookPr date1904="${date1904}"/><sheets>`)
    const rows = sheet('<row><c s="1"><v>40544</v></c></row>')
    let dialect: TableDialect | undefined
    const bytes = await workbook({ ...office, 'xl/workbook.xml': book, 'xl/worksheets/sheet9.xml': rows })
    const found = await rowsOf(bytes, (one) => {
      dialect = one
    })
    expect(found).toEqual([{ line: 1, cells: [day] }])
    expect(dialect).toEqual({ format: 'xlsx', sheet: 'Data', sheets: ['Data', 'Other'], dates_from })
  })

  test('how a Japanese text is read aloud is no part of it', async () => {
    const texts = `<sst ${main}><si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><r><t>大</t></r><r><t>阪</t></r><rPh sb="0" eb="2"><t>オオサカ</t></rPh></si></sst>`
    const rows = sheet(
      '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><t>漢字</t><rPh sb="0" eb="2"><t>カンジ</t></rPh></is></c></row>',
    )
    const bytes = await workbook({
      ...office,
      'xl/sharedStrings.xml': texts,
      'xl/worksheets/sheet9.xml': rows,
    })
    expect(await rowsOf(bytes)).toEqual([{ line: 1, cells: ['東京', '大阪', '漢字'] }])
  })

  test('a hidden sheet is not the one that is read', async () => {
    const book = office['xl/workbook.xml'].replace('name="Data"', 'name="Data" state="veryHidden"')
    const bytes = await workbook({
      ...office,
      'xl/workbook.xml': book,
      'xl/worksheets/sheet9.xml': sheet(''),
    })
    expect(await rowsOf(bytes)).toEqual([{ line: 1, cells: [1] }])
  })

  test.each<[string, string, Cell]>([
    ['dd/mm/yyyy', '46053', '2026-01-31'],
    ['[$-407]d. mmm yyyy', '46053.5', '2026-01-31T12:00:00'],
    ['hh:mm', '0.375', '09:00:00'],
    ['[h]:mm', '1.25', '30:00:00'],
    ['00000', '1067', '01067'],
    ['0.00', '1.5', 1.5],
    ['#,##0.00\\ &quot;days&quot;', '3', 3],
    ['_-* #,##0.00\\ [$€-407]_-', '3', 3],
    ['General', '750727362669608961', '750727362669608961'],
    ['General', '0.30000000000000004', 0.30000000000000004],
  ])('a cell of the format %s with %s is %j', async (format, number, cell) => {
    const styles = `<styleSheet ${main}><numFmts><numFmt numFmtId="170" formatCode="${format}"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>`
    const rows = sheet(`<row><c s="0"><v>${number}</v></c></row>`)
    const bytes = await workbook({ ...office, 'xl/styles.xml': styles, 'xl/worksheets/sheet9.xml': rows })
    expect(await rowsOf(bytes)).toEqual([{ line: 1, cells: [cell] }])
  })

  test.each<[string, string]>([
    ['a cell far to the right', '<row r="1"><c r="XFD1"><v>1</v></c></row>'],
    ['a cell without a place', '<row r="1"><c r="1"><v>1</v></c></row>'],
    ['text that is no XML', '<row><c></row>'],
    ['elements in elements', '<a>'.repeat(100)],
  ])('%s is refused', async (_what, rows) => {
    const bytes = await workbook({ ...office, 'xl/worksheets/sheet9.xml': sheet(rows) })
    await expect(rowsOf(bytes)).rejects.toMatchObject({ name: 'CsvProblem' })
  })

  test('entities of a document type are refused', async () => {
    const entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    const bytes = await workbook({ ...office, 'xl/worksheets/sheet9.xml': entities + sheet('<row/>') })
    await expect(rowsOf(bytes)).rejects.toThrow('document type')
  })

  test('a cell of 1 GB in a file of 1 MB ends after 4 MB', async () => {
    let input = 0
    async function* bomb() {
      yield `<worksheet ${main}><sheetData><row><c t="str"><v>`
      for (input = 0; input < 100; input += 1) yield 'a'.repeat(1024 * 1024)
    }
    const bytes = await workbook({ ...office, 'xl/worksheets/sheet9.xml': bomb() })
    expect(bytes.length).toBeLessThan(200_000)
    const before = process.memoryUsage().rss
    await expect(rowsOf(bytes)).rejects.toThrow('too long')
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 * 1024)
  })

  test.each([
    ['no file of the kind', Buffer.from('a,b\n1,2')],
    ['an empty file', Buffer.alloc(0)],
  ])('%s is refused', async (_what, bytes) => {
    await expect(rowsOf(bytes)).rejects.toThrow('no XLSX workbook')
  })

  test.each<[string, string, string, RegExp]>([
    ['rows', 'xl/worksheets/sheet1.xml', '<row/>', /more than 1048576 rows, empty ones too/],
    ['cells', 'xl/worksheets/sheet1.xml', '<c/>', /more than 500 columns/],
    ['cells of one place', 'xl/worksheets/sheet1.xml', '<c r="A1"/>', /more than 16384 cells in line 0/],
    ['shared texts', 'xl/sharedStrings.xml', '<si/>', /more than 64 MB of different texts/],
    ['elements', 'xl/worksheets/sheet1.xml', '<x/>', /unpacks to more than 100 times its size/],
    ['styles', 'xl/styles.xml', '<xf/>', /unpacks to more than 100 times its size/],
  ])('of millions of empty %s few are looked at', async (_name, part, element, message) => {
    let pieces = 0
    async function* many() {
      yield '<any>'
      for (; pieces < 64; pieces++) yield element.repeat(1_048_576 / element.length)
      yield '</any>'
    }
    const bytes = await workbook({
      'xl/worksheets/sheet1.xml': sheet('<row><c><v>1</v></c></row>'),
      [part]: many(),
    })
    expect(bytes.length).toBeLessThan(200_000)
    await expect(rowsOf(bytes)).rejects.toThrow(message)
  })

  test.each([
    [
      'rows',
      `${'<row/>'.repeat(1_048_576)}<row><c><v>1</v></c></row>`,
      'more than 1048576 rows, empty ones too',
    ],
    [
      'cells',
      `<row>${'<c r="A1"/>'.repeat(16_385)}</row>`,
      'more than 16384 cells in line 1, empty ones too',
    ],
  ])('a sheet has as many %s as a spreadsheet has', async (_name, rows, message) => {
    // What does not repeat keeps the packed length up.
    const noise = Array.from({ length: 12_000 }, () => `<!--${Math.random()}-->`).join('')
    const bytes = await workbook({ 'xl/worksheets/sheet1.xml': sheet(noise + rows) })
    await expect(rowsOf(bytes)).rejects.toThrow(message)
  })

  const spaces = (count: number) => `<sst><si><t xml:space="preserve">${' '.repeat(count)}</t></si></sst>`
  const same = '<c t="s"><v>0</v></c>'
  test.each<[string, Readonly<Record<string, string>>, string]>([
    [
      'cells of a row that share a long text',
      {
        'xl/sharedStrings.xml': spaces(3_000),
        'xl/worksheets/sheet9.xml': sheet(`<row>${same.repeat(400)}</row>`),
      },
      'more than 1000000 characters in line 1',
    ],
    [
      'rows that share a long text',
      {
        'xl/sharedStrings.xml': spaces(999_999),
        'xl/worksheets/sheet9.xml': sheet(`<row>${same}</row>`.repeat(1_100)),
      },
      'more than 1000000000 characters',
    ],
    [
      'texts in a row',
      {
        'xl/worksheets/sheet9.xml': sheet(
          `<row>${`<c t="str"><v>${'x'.repeat(30_000)}</v></c>`.repeat(40)}</row>`,
        ),
      },
      'more than 1000000 characters in line 1',
    ],
    [
      'styles',
      {
        'xl/styles.xml': `<styleSheet><cellXfs>${'<xf numFmtId="14"/>'.repeat(65_491)}</cellXfs></styleSheet>`,
      },
      'more than 65490 styles',
    ],
  ])('more %s than a spreadsheet has are refused', async (_what, parts, message) => {
    const bytes = await workbook({ ...office, 'xl/worksheets/sheet9.xml': sheet(''), ...parts })
    await expect(rowsOf(bytes)).rejects.toThrow(message)
  })

  test('of millions of characters in names of sheets none are held', async () => {
    const long = `<sheet name="${'x'.repeat(300_000)}" r:id="rId1"/>`
    const book = office['xl/workbook.xml'].replace('<sheets>', `<sheets>${long.repeat(3)}`)
    const bytes = await workbook({
      ...office,
      'xl/workbook.xml': book,
      'xl/worksheets/sheet9.xml': sheet(''),
    })
    let dialect: TableDialect | undefined
    await rowsOf(bytes, (one) => {
      dialect = one
    })
    expect(dialect?.sheets).toEqual(['Data', 'Other'])
    await expect(rowsOf(bytes, undefined, 'x'.repeat(300_000))).rejects.toThrow('has no sheet')
  })

  test.each(['x', '0', '-1', '1.5', '1048577', '1e999'])(
    'a row with the number %s follows the one before',
    async (r) => {
      const rows = sheet(`<row r="7"><c><v>1</v></c></row><row r="${r}"><c><v>2</v></c></row>`)
      const bytes = await workbook({ ...office, 'xl/worksheets/sheet9.xml': rows })
      expect((await rowsOf(bytes)).map(({ line }) => line)).toEqual([7, 8])
    },
  )

  test('a list of parts that is longer than any is not read', async () => {
    const size = 40 * 1024 * 1024
    const end = Buffer.alloc(22)
    end.write('PK\u0005\u0006', 'latin1')
    end.writeUInt16LE(1, 8)
    end.writeUInt16LE(1, 10)
    end.writeUInt32LE(17 * 1024 * 1024, 12)
    end.writeUInt32LE(size - 22 - 17 * 1024 * 1024, 16)
    let most = 0
    const read = (from: number, to: number) => {
      most = Math.max(most, to - from + 1)
      const bytes = Buffer.alloc(to - from + 1)
      if (to === size - 1) end.copy(bytes, Math.max(0, bytes.length - end.length))
      return Readable.from([bytes])
    }
    await expect(Array.fromAsync(xlsxRows({ size, read }))).rejects.toThrow('no XLSX workbook')
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(16 * 1024 * 1024)
  })

  test('a list with many or long items is JSON in its cell', () => {
    const rule = { type: 'list', limits: { items: 'string' } } as const
    const form = { isSheet: true, keepsBlanks: false }
    const cell = (items: readonly string[]) => fieldCell(items, rule, form)
    expect(cell(['a', 'b'])).toBe('a; b')
    for (const items of [
      Array.from({ length: 10_001 }, () => 'a'),
      Array.from({ length: 30 }, () => 'a'.repeat(2_000)),
    ])
      expect(cell(items)).toBe(JSON.stringify(items))
  })

  test('a workbook that is cut off is refused', async () => {
    const whole = await written([['a']])
    await expect(rowsOf(whole.subarray(0, whole.length - 40))).rejects.toThrow('no XLSX workbook')
  })
})

test.each([
  [1, '1899-12-31'],
  [60.5, '1900-02-28T12:00:00'],
  [61, '1900-03-01'],
  [-1, -1],
  [1e9, 1e9],
])('day %f is %s', (days, text) => {
  expect(excelDate(days)).toBe(text)
})
