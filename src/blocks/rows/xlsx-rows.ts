/**
 * The rows of a sheet of a workbook (XLSX), a piece of the sheet at a time. In memory are the texts that cells share
 * (bounded), one row, and which styles show dates. A date is given as text: `2026-01-31`, or with a time `2026-01-31T12:00:00`.
 */
import { pauses } from '../../shared/cooperative.ts'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import { CsvProblem } from './csv-rows.ts'
import type { FoundDialect } from './table-text.ts'
import { type CellStyle, cellStyles, styledNumber } from './xlsx-dates.ts'
import { type Cell, readEscapes } from './xlsx-file.ts'
import { type FileBytes, openXlsxParts, type XlsxParts } from './xlsx-parts.ts'
import { type XmlEvent, xmlEvents } from './xml-events.ts'

export interface SheetRow {
  /** From 1, as spreadsheets number it. */
  readonly line: number
  readonly cells: readonly Cell[]
}

const MOST_CELLS = 500
const MOST_SHARED = 64 * 1024 * 1024
/** Of memory, however short a text is. */
const LEAST_OF_TEXT = 64
/** Columns of a sheet, and its rows with those that are empty. */
const MOST_IN_ROW = 16_384
const MOST_ROWS = 1_048_576
/** Characters of a row, and of all rows: cells that share one text are a few bytes each, and each is read whole. */
const LONGEST_ROW = 1_000_000
const LONGEST_SHEET = 1_000_000_000

/** Rows without anything in them are left out. Throws CsvProblem. `found`: is told what kind of workbook it is. `requested`: name of a sheet. */
export async function* xlsxRows(
  file: FileBytes,
  found?: FoundDialect,
  requested?: string,
): AsyncGenerator<SheetRow> {
  const parts = await openXlsxParts(file)
  const all = await attributesOf(parts, 'xl/workbook.xml', 'sheet', ['name', 'state', 'r:id'])
  const { name, part } = await sheetOf(parts, all, requested)
  const sheet = parts.part(part)
  if (!sheet) throw new CsvProblem('is an XLSX workbook without a sheet')
  const [properties = {}] = await attributesOf(parts, 'xl/workbook.xml', 'workbookPr', ['date1904'])
  const from1904 = ['1', 'true', 'on'].includes((properties.date1904 ?? '').toLowerCase())
  const sheets = all.filter(isVisible).map((one) => one.name ?? '')
  found?.({ format: 'xlsx', ...(name && { sheet: name, sheets }), dates_from: from1904 ? 1904 : 1900 })
  const shared = await sharedTexts(parts)
  const reader = new SheetReader({ shared, styles: await cellStyles(parts), from1904 })
  const pause = pauses()
  for await (const events of xmlEvents(sheet))
    for (const row of reader.read(events)) {
      yield row
      await pause()
    }
}

type Attributes = Readonly<Record<string, string>>

/** Programs name sheets with at most 31 characters. */
const LONGEST_NAME = 255

function isVisible({ state = 'visible', name = '' }: Attributes): boolean {
  return state === 'visible' && name.length <= LONGEST_NAME
}

const MOST_NAMED = 20

/** The sheet of this name, else the one that a workbook shows first: hidden ones hold lists and calculations of the others. */
async function sheetOf(
  parts: XlsxParts,
  all: readonly Attributes[],
  requested: string | undefined,
): Promise<{ readonly name: string; readonly part: string }> {
  const chosen =
    requested === undefined ? (all.find(isVisible) ?? all[0]) : all.find(({ name }) => name === requested)
  if (requested !== undefined && !chosen) {
    const names = all.filter(isVisible).map(({ name }) => JSON.stringify(name))
    const shown = `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`
    throw new CsvProblem(
      `has no sheet ${JSON.stringify(requested.slice(0, LONGEST_NAME))}; its sheets are ${shown}`,
    )
  }
  const related = await attributesOf(parts, 'xl/_rels/workbook.xml.rels', 'Relationship', ['Id', 'Target'])
  const target = related.find(({ Id }) => Id === chosen?.['r:id'])?.Target ?? 'worksheets/sheet1.xml'
  return { name: chosen?.name ?? '', part: target.startsWith('/') ? target.slice(1) : `xl/${target}` }
}

const LONGEST_ATTRIBUTE = 1_000

/** These attributes of all elements of a name, at most 1,000. Elements with a longer one than any program writes are left out. */
async function attributesOf(parts: XlsxParts, part: string, name: string, names: readonly string[]) {
  const found: Attributes[] = []
  for await (const events of xmlEvents(parts.part(part) ?? nothing()))
    for (const event of events) {
      if (event.kind !== 'open' || event.name !== name || found.length >= 1_000) continue
      const { attributes } = event
      const present = names.flatMap((one): [string, string][] => {
        const value = attributes[one]
        return value === undefined ? [] : [[one, value]]
      })
      if (present.every(([, value]) => value.length <= LONGEST_ATTRIBUTE))
        found.push(Object.fromEntries(present))
    }
  return found
}

async function* nothing(): AsyncGenerator<string> {
  yield '<none/>'
}

async function sharedTexts(parts: XlsxParts): Promise<readonly string[]> {
  const texts: string[] = []
  let text: string | undefined
  let within = 0
  let readings = 0
  let length = 0
  for await (const events of xmlEvents(parts.part('xl/sharedStrings.xml') ?? nothing())) {
    for (const event of events) {
      if (event.kind !== 'text' && event.name === 'rPh') readings += event.kind === 'open' ? 1 : -1
      else if (event.kind === 'text' && text !== undefined && within > 0 && readings === 0) {
        text += event.text
        length += event.text.length
      } else if (event.kind === 'open') {
        if (event.name === 'si') text = ''
        else if (event.name === 't') within += 1
      } else if (event.kind === 'close') {
        if (event.name === 't') within -= 1
        else if (event.name === 'si') {
          texts.push(readEscapes(text ?? ''))
          text = undefined
          length += LEAST_OF_TEXT
        }
      }
      if (length > MOST_SHARED) throw new CsvProblem('has more than 64 MB of different texts; save it as CSV')
    }
  }
  return texts
}

interface Workbook {
  readonly shared: readonly string[]
  readonly styles: ReadonlyMap<number, CellStyle>
  readonly from1904: boolean
}

/** Turns the events of a sheet into rows. */
class SheetReader {
  readonly #book: Workbook
  #line = 0
  #rows = 0
  #inRow = 0
  #inLine = 0
  #characters = 0
  #cells: Cell[] = []
  #at = 0
  #type = 'n'
  #style = 0
  #text = ''
  /** In an element whose text is the cell's. */
  #within = false
  /** In how a Japanese text is read aloud, which is stored beside it. */
  #reading = false

  constructor(book: Workbook) {
    this.#book = book
  }

  read(events: readonly XmlEvent[]): SheetRow[] {
    const rows: SheetRow[] = []
    for (const event of events) {
      if (event.kind === 'text') {
        if (this.#within && !this.#reading) this.#text += this.#counted(event.text)
      } else if (event.kind === 'open') this.#open(event.name, event.attributes)
      else if (event.name === 'v' || event.name === 't') this.#within = false
      else if (event.name === 'rPh') this.#reading = false
      else if (event.name === 'c') this.#endCell()
      else if (event.name === 'row' && this.#cells.some((cell) => cell !== ''))
        rows.push({ line: this.#line, cells: this.#cells })
    }
    return rows
  }

  #open(name: string, { r, t, s }: Readonly<Record<string, string>>): void {
    if (name === 'row') {
      this.#rows += 1
      if (this.#rows > MOST_ROWS) throw new CsvProblem(`has more than ${MOST_ROWS} rows, empty ones too`)
      this.#inRow = 0
      this.#inLine = 0
      this.#line = numberOfRow(r) ?? this.#line + 1
      this.#cells = []
      this.#at = 0
    } else if (name === 'c') {
      this.#inRow += 1
      if (this.#inRow > MOST_IN_ROW)
        throw new CsvProblem(`has more than ${MOST_IN_ROW} cells in line ${this.#line}, empty ones too`)
      this.#at = r === undefined ? this.#at : columnOf(r)
      this.#type = t ?? 'n'
      this.#style = Number(s ?? 0)
      this.#text = ''
    } else if (name === 'v' || name === 't') this.#within = true
    else if (name === 'rPh') this.#reading = true
  }

  #counted(text: string): string {
    this.#inLine += text.length
    this.#characters += text.length
    if (this.#inLine > LONGEST_ROW)
      throw new CsvProblem(`has more than ${LONGEST_ROW} characters in line ${this.#line}`)
    if (this.#characters > LONGEST_SHEET) throw new CsvProblem(`has more than ${LONGEST_SHEET} characters`)
    return text
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
    const { shared, styles, from1904 } = this.#book
    switch (this.#type) {
      case 's':
        return this.#counted(shared[Number(text)] ?? '')
      case 'b':
        return text === '1' || text === 'true'
      case 'n': {
        const value = Number(text)
        // A whole number of 18 digits is an id, which the text keeps.
        if (!Number.isFinite(value) || !keepsDigits(text)) return text
        const style = styles.get(this.#style)
        return style === undefined ? value : styledNumber(value, { style, from1904 })
      }
      case 'str':
      case 'inlineStr':
        return readEscapes(text)
      default:
        return text
    }
  }
}

/** undefined for what is no row of a sheet: it follows the one before it. */
function numberOfRow(r: string | undefined): number | undefined {
  const line = Number(r)
  return Number.isInteger(line) && line >= 1 && line <= MOST_ROWS ? line : undefined
}

/** From 0: of `C7` it is 2. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of reference.replace(/(?<!\d)\d+$/, '').toUpperCase())
    column = column * 26 + letter.charCodeAt(0) - 64
  if (!(column >= 1 && column <= 16_384)) throw new CsvProblem('has a cell without a place')
  return column - 1
}
