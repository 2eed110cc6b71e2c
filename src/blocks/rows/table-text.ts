import type { JsonValue } from '../../shared/json.ts'
import { CsvProblem } from './csv-rows.ts'

/** A value as a cell of a table has it: lists of texts with semicolons between, objects as JSON. */
export function cellValue(value: JsonValue | undefined): string | number {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join('; ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What was recognised of a table of another program, for people who look at a preview. */
export interface TableDialect {
  readonly format: 'csv' | 'xlsx'
  /** Of CSV. */
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly separator?: string
  /** Of XLSX: the name of the sheet that is read, and of all that are not hidden. */
  readonly sheet?: string
  readonly sheets?: readonly string[]
  /** Of XLSX: the year from which days are counted. */
  readonly dates_from?: 1900 | 1904
}

/** Is told once, before the first row. */
export type FoundDialect = (dialect: TableDialect) => void

/** What pins call separators. */
export const csvSeparators: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' }

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** By the mark at the beginning. Excel saves "Unicode Text" as UTF-16 with one. */
function encodingOf(head: Uint8Array): TextEncoding {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8'
}

/**
 * UTF-8 as text, or UTF-16 with a byte order mark, a piece at a time. Throws CsvProblem for other bytes, and for more than `most`
 * of them. `found`: is told the encoding. `isBeginning`: of a text, whose last character may not be whole and is left out.
 */
export async function* decodedText(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
  found?: (encoding: TextEncoding) => void,
  isBeginning = false,
): AsyncGenerator<string, void> {
  let decoder: TextDecoder | undefined
  let head = new Uint8Array()
  let length = 0
  const decode = (piece: Uint8Array, isEnd: boolean) => {
    if (!decoder) {
      const encoding = encodingOf(piece)
      found?.(encoding)
      decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
    }
    try {
      return decoder.decode(piece, { stream: !isEnd })
    } catch {
      const { encoding } = decoder
      throw new CsvProblem(
        encoding === 'utf-8'
          ? 'is not UTF-8 text: save it as "CSV UTF-8"'
          : `begins as ${encoding.toUpperCase()} text and is not`,
      )
    }
  }
  for await (const piece of bytes) {
    length += piece.length
    if (length > most) throw new CsvProblem(`is larger than ${most / 1024 / 1024} MB`)
    // The mark may come in two pieces.
    const whole: Uint8Array = head.length > 0 ? Buffer.concat([head, piece]) : piece
    head = new Uint8Array()
    if (!decoder && whole.length < 2) head = Uint8Array.from(whole)
    else yield decode(whole, false)
  }
  yield decode(head, !isBeginning)
}
