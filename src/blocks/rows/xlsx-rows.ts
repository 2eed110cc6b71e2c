/**
 * The rows of the first sheet of a workbook (XLSX), a piece of the sheet at a time. In memory are the texts that cells share
 * (bounded), one row, and which styles show dates. A date is given as text: `2026-01-31`, or with a time `2026-01-31T12:00:00`.
 */
import { CsvProblem } from './csv-rows.ts'
import { dateStyles, excelDate } from './xlsx-dates.ts'
import type { Cell } from './xlsx-file.ts'
import { type FileBytes, openXlsxParts, type XlsxParts } from './xlsx-parts.ts'
import { type XmlEvent, xmlEvents } from './xml-events.ts'

export interface SheetRow {
  /** From 1, as spreadsheets number it. */
  readonly line: number
  readonly cells: readonly Cell[]
}

const MOST_CELLS = 500
const MOST_SHARED = 64 * 1024 * 1024

/** Rows without anything in them are left out. Throws CsvProblem. */
export async function* xlsxRows(file: FileBytes): AsyncGenerator<SheetRow> {
  const parts = await openXlsxParts(file)
  const sheet = parts.part(await firstSheet(parts))
  if (!sheet) throw new CsvProblem('is an XLSX workbook without a sheet')
  const shared = await sharedTexts(parts)
  const dates = await dateStyles(parts)
  const reader = new SheetReader(shared, dates)
  for await (const events of xmlEvents(sheet)) yield* reader.read(events)
}

/** The part of the sheet that a workbook lists first. */
async function firstSheet(parts: XlsxParts): Promise<string> {
  const first = await attributesOf(parts, 'xl/workbook.xml', 'sheet')
  const id = first[0]?.['r:id'] ?? ''
  const related = await attributesOf(parts, 'xl/_rels/workbook.xml.rels', 'Relationship')
  const target = related.find(({ Id }) => Id === id)?.Target ?? 'worksheets/sheet1.xml'
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`
}

/** Of all elements of a name, at most 1,000. */
async function attributesOf(parts: XlsxParts, part: string, name: string) {
  const found: Readonly<Record<string, string>>[] = []
  for await (const events of xmlEvents(parts.part(part) ?? nothing()))
    for (const event of events)
      if (event.kind === 'open' && event.name === name && found.length < 1_000) found.push(event.attributes)
  return found
}

async function* nothing(): AsyncGenerator<string> {
  yield '<none/>'
}

async function sharedTexts(parts: XlsxParts): Promise<readonly string[]> {
  const texts: string[] = []
  let text: string | undefined
  let within = 0
  let length = 0
  for await (const events of xmlEvents(parts.part('xl/sharedStrings.xml') ?? nothing())) {
    for (const event of events) {
      if (event.kind === 'text' && text !== undefined && within > 0) {
        text += event.text
        length += event.text.length
      } else if (event.kind === 'open') {
        if (event.name === 'si') text = ''
        else if (event.name === 't') within += 1
      } else if (event.kind === 'close') {
        if (event.name === 't') within -= 1
        else if (event.name === 'si') {
          texts.push(text ?? '')
          text = undefined
          // A text takes at least some bytes, however short it is.
          length += 16
        }
      }
      if (length > MOST_SHARED) throw new CsvProblem('has more than 64 MB of different texts; save it as CSV')
    }
  }
  return texts
}

/** Turns the events of a sheet into rows. */
class SheetReader {
  readonly #shared: readonly string[]
  readonly #dates: ReadonlySet<number>
  #line = 0
  #cells: Cell[] = []
  #at = 0
  #type = 'n'
  #style = 0
  #text = ''
  /** In an element whose text is the cell's. */
  #within = false

  constructor(shared: readonly string[], dates: ReadonlySet<number>) {
    this.#shared = shared
    this.#dates = dates
  }

  read(events: readonly XmlEvent[]): SheetRow[] {
    const rows: SheetRow[] = []
    for (const event of events) {
      if (event.kind === 'text') {
        if (this.#within) this.#text += event.text
      } else if (event.kind === 'open') this.#open(event.name, event.attributes)
      else if (event.name === 'v' || event.name === 't') this.#within = false
      else if (event.name === 'c') this.#endCell()
      else if (event.name === 'row' && this.#cells.some((cell) => cell !== ''))
        rows.push({ line: this.#line, cells: this.#cells })
    }
    return rows
  }

  #open(name: string, { r, t, s }: Readonly<Record<string, string>>): void {
    if (name === 'row') {
      this.#line = r === undefined ? this.#line + 1 : Number(r)
      this.#cells = []
      this.#at = 0
    } else if (name === 'c') {
      this.#at = r === undefined ? this.#at : columnOf(r)
      this.#type = t ?? 'n'
      this.#style = Number(s ?? 0)
      this.#text = ''
    } else if (name === 'v' || name === 't') this.#within = true
  }

  #endCell(): void {
    if (this.#at >= MOST_CELLS)
      throw new CsvProblem(`has more than ${MOST_CELLS} columns in line ${this.#line}`)
    while (this.#cells.length < this.#at) this.#cells.push('')
    this.#cells[this.#at] = this.#value()
    this.#at += 1
  }

  #value(): Cell {
    const text = this.#text
    if (text === '') return ''
    switch (this.#type) {
      case 's':
        return this.#shared[Number(text)] ?? ''
      case 'b':
        return text === '1'
      case 'n': {
        const value = Number(text)
        if (!Number.isFinite(value)) return text
        return this.#dates.has(this.#style) ? excelDate(value) : value
      }
      default:
        return text
    }
  }
}

/** From 0: of `C7` it is 2. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of reference.replace(/(?<!\d)\d+$/, '').toUpperCase())
    column = column * 26 + letter.charCodeAt(0) - 64
  if (!(column >= 1 && column <= 16_384)) throw new CsvProblem('has a cell without a place')
  return column - 1
}
