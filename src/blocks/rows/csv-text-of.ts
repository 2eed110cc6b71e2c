import { CsvProblem } from './csv-rows.ts'

/** What pins call separators. */
export const csvSeparators: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' }

/** UTF-8 as text, a piece at a time. Throws CsvProblem for other bytes, and for more than `most` of them. */
export async function* decodedText(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let length = 0
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      throw new CsvProblem('is not UTF-8 text: save it as "CSV UTF-8"')
    }
  }
  for await (const piece of bytes) {
    length += piece.length
    if (length > most) throw new CsvProblem(`is larger than ${most / 1024 / 1024} MB`)
    yield decode(piece)
  }
  yield decode()
}
