/** A workbook as people hand it around: a title in a merged cell, an empty line, and the names of the columns in the third. */
import type { Cell } from '../src/blocks/rows/xlsx-file.ts'

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

interface Sheet {
  readonly name: string
  /** In a cell that is merged over all columns. */
  readonly title?: string
  /** The names, and the rows behind them. */
  readonly rows: readonly (readonly Cell[])[]
}

/** Its bytes. The names stand in line 3 behind a title, else in line 1. */
export async function messyWorkbook(sheets: readonly Sheet[]): Promise<Buffer> {
  const { ZipWriter, Uint8ArrayWriter, TextReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const zip = new ZipWriter(new Uint8ArrayWriter())
  const add = (name: string, text: string) => zip.add(name, new TextReader(text))
  const names = sheets.map(
    ({ name }, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}" r:id="r${at}"/>`,
  )
  const targets = sheets.map((_sheet, at) => `<Relationship Id="r${at}" Target="worksheets/sheet${at}.xml"/>`)
  await add('xl/workbook.xml', `<workbook ${main} xmlns:r="r"><sheets>${names.join('')}</sheets></workbook>`)
  await add('xl/_rels/workbook.xml.rels', `<Relationships>${targets.join('')}</Relationships>`)
  for (const [at, sheet] of sheets.entries()) await add(`xl/worksheets/sheet${at}.xml`, sheetXml(sheet))
  return Buffer.from(await zip.close())
}

function sheetXml({ title, rows }: Sheet): string {
  const [names = []] = rows
  const last = `${String.fromCharCode(64 + names.length)}1`
  const head = title === undefined ? '' : `${rowXml(1, [title, ...names.slice(1).map(() => '')])}<row r="2"/>`
  const from = title === undefined ? 1 : 3
  const lines = rows.map((cells, at) => rowXml(from + at, cells)).join('')
  const merged = title === undefined ? '' : `<mergeCells count="1"><mergeCell ref="A1:${last}"/></mergeCells>`
  return `<worksheet ${main}><sheetData>${head}${lines}</sheetData>${merged}</worksheet>`
}

function rowXml(line: number, cells: readonly Cell[]): string {
  return `<row r="${line}">${cells.map(cellXml).join('')}</row>`
}

function cellXml(cell: Cell): string {
  if (typeof cell === 'number') return `<c><v>${cell}</v></c>`
  return cell === '' ? '<c/>' : `<c t="inlineStr"><is><t>${escaped(String(cell))}</t></is></c>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
