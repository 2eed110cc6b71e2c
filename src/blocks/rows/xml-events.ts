import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { CsvProblem } from './csv-rows.ts'

/** What an XML text holds, in order. Names are without their prefix. */
export type XmlEvent =
  | { readonly kind: 'open'; readonly name: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'close'; readonly name: string }

/** Characters of one tag or text: the parser holds it until its end. */
const LONGEST = 4 * 1024 * 1024
const DEEPEST = 64
/** Characters that are parsed in one turn of the event loop. With four times as many the longest turn was 102 ms. */
const PIECE = 16_384

/** The events of each piece of a text, together. Entities that a document declares are refused. Throws CsvProblem. */
export async function* xmlEvents(pieces: AsyncIterable<string>): AsyncGenerator<readonly XmlEvent[]> {
  const { SaxesParser } = await import('saxes')
  const parser = new SaxesParser()
  let events: XmlEvent[] = []
  let depth = 0
  const bare = (name: string) => name.slice(name.indexOf(':') + 1)
  parser.on('error', (error) => {
    throw new CsvProblem('has a sheet that is no XML', { cause: error })
  })
  parser.on('doctype', () => {
    throw new CsvProblem('has a sheet with a document type, which is refused')
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1
    if (depth > DEEPEST) throw new CsvProblem('has a sheet that is nested too deep')
    events.push({ kind: 'open', name: bare(name), attributes })
  })
  parser.on('text', (text) => void events.push({ kind: 'text', text }))
  parser.on('closetag', ({ name }) => {
    depth -= 1
    events.push({ kind: 'close', name: bare(name) })
  })
  let silent = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE) {
      const part = piece.slice(at, at + PIECE)
      parser.write(part)
      silent = events.length === 0 ? silent + part.length : 0
      if (silent > LONGEST) throw new CsvProblem('has a cell that is too long')
      yield events
      events = []
      await yieldToEventLoop()
    }
  }
  parser.close()
  yield events
}

/** Bytes as a stream of the web: the next piece is asked for when the one before is taken. */
export function webStream(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
