/**
 * A workbook with one sheet (XLSX), written while its rows come: a few hundred rows are in memory. Text is written inline,
 * so that no table of texts grows with the file. No cell is a formula, whatever it begins with.
 */
import { placesOfCurrency } from '../../shared/fields/currencies.ts'
import { webStream } from './xml-events.ts'

export type Cell = string | number | boolean

/** A number of days that the cell shows as a date. */
export interface DateCell {
  readonly days: number
  readonly format: DateFormat
}

export type DateFormat = 'yyyy-mm-dd' | 'yyyy-mm-dd hh:mm:ss' | 'yyyy-mm-dd hh:mm:ss.000'

/** What a sheet holds. */
export const MOST_SHEET_ROWS = 1_048_576
/** What a cell holds; longer text is cut. */
const LONGEST_TEXT = 32_767
/** Rows that are written in one turn of the event loop. */
const ROWS_A_TURN = 200

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** The parts around the sheet, by name. */
const parts: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPES}.worksheet+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
}

/** By column: the currency of its amounts. It may be known with the first row only. */
export type ColumnCurrencies = readonly (string | undefined)[]

/**
 * The bytes of a workbook. Throws what the rows throw; the caller counts them, at most {@link MOST_SHEET_ROWS}. Amounts are numbers
 * in cells that show their currency.
 */
export async function* xlsxFile(
  rows: AsyncIterable<readonly (Cell | DateCell)[]>,
  currencies: ColumnCurrencies = [],
): AsyncGenerator<Buffer> {
  const formats: string[] = []
  const styleOf = (format: string) => {
    if (!formats.includes(format)) formats.push(format)
    return formats.indexOf(format) + 1
  }
  const styleAt = (cell: Cell | DateCell, column: number) => {
    if (typeof cell === 'object') return styleOf(cell.format)
    const code = currencies[column]
    return code === undefined || typeof cell !== 'number' ? 0 : styleOf(amountFormat(code))
  }
  const { ZipWriter, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const through = new TransformStream<Uint8Array, Uint8Array>()
  const zip = new ZipWriter(through.writable)
  const write = async () => {
    for (const [name, text] of Object.entries(parts)) await zip.add(name, webStream(bytesOf([HEAD + text])))
    await zip.add('xl/worksheets/sheet1.xml', webStream(bytesOf(sheet(rows, styleAt))))
    await zip.add('xl/styles.xml', webStream(bytesOf([HEAD + stylesOf(formats)])))
    await zip.close()
  }
  const written = write().catch((error: unknown) =>
    through.writable.abort(error).then(() => Promise.reject(error)),
  )
  // Until it is awaited below.
  written.catch(() => undefined)
  for await (const chunk of through.readable) yield Buffer.from(chunk)
  await written
}

async function* bytesOf(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text)
}

/** Number formats of our own begin at 164. */
const FIRST_FORMAT = 164

function amountFormat(code: string): string {
  const places = placesOfCurrency(code)
  return `#,##0${places === 0 ? '' : `.${'0'.repeat(places)}`}\\ [$${code}]`
}

function stylesOf(formats: readonly string[]): string {
  const numbered = formats.map((code, at) => `<numFmt numFmtId="${FIRST_FORMAT + at}" formatCode="${code}"/>`)
  const cells = formats.map((_, at) => `<xf numFmtId="${FIRST_FORMAT + at}" applyNumberFormat="1" xfId="0"/>`)
  const own = formats.length === 0 ? '' : `<numFmts count="${formats.length}">${numbered.join('')}</numFmts>`
  return `<styleSheet xmlns="${MAIN}">${own}<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${formats.length + 1}"><xf numFmtId="0" xfId="0"/>${cells.join('')}</cellXfs></styleSheet>`
}

async function* sheet(
  rows: AsyncIterable<readonly (Cell | DateCell)[]>,
  styleAt: (cell: Cell | DateCell, column: number) => number,
): AsyncGenerator<string> {
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`
  let text = ''
  let count = 0
  for await (const cells of rows) {
    count += 1
    text += `<row r="${count}">${cells.map((cell, at) => cellXml(cell, styleAt(cell, at))).join('')}</row>`
    if (count % ROWS_A_TURN !== 0) continue
    yield text
    text = ''
  }
  yield `${text}</sheetData></worksheet>`
}

function cellXml(cell: Cell | DateCell, style: number): string {
  if (typeof cell === 'object') return `<c s="${style}"><v>${cell.days}</v></c>`
  if (typeof cell === 'number') return `<c${style === 0 ? '' : ` s="${style}"`}><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c t="b"><v>${cell ? 1 : 0}</v></c>`
  return cell === '' ? '<c/>' : `<c t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
}

/**
 * XML has no place for most control characters and makes a line feed of a carriage return: they are written as `_x000D_`, as Excel
 * does, and so is what already looks like that. U+0000 and halves of surrogate pairs are replaced.
 */
function escaped(text: string): string {
  const cut = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text
  return cut
    .toWellFormed()
    .replaceAll('\u0000', '\ufffd')
    .replace(/_(?=x[\da-fA-F]{4}_)/g, '_x005F_')
    .replace(
      /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
      (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/** What {@link escaped} and other programs write as `_x000D_`. */
export function readEscapes(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([\da-fA-F]{4})_/g, (_all, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
}
