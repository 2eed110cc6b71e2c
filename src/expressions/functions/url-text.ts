import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { boundedText, checkLength, spendOnNew, spendOnText } from './bounded.ts'
import { objectOf } from './object-of.ts'

export function urlEncoded(text: string): string {
  if (!text.isWellFormed()) throw new ArgumentError('text', 'holds half of a surrogate pair')
  return boundedText('text', encodeURIComponent(text))
}

export function urlDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new ArgumentError('text', 'must be a part of a web address: % and two hexadecimal digits')
  }
}

/** The parts of a web address, without user and password. */
export function parsedUrl(context: FunctionContext, text: string) {
  spendOnText(context, text, 50)
  const url = URL.parse(text)
  if (url === null) throw new ArgumentError('text', 'must be a complete web address')
  return {
    protocol: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port === '' ? null : Number(url.port),
    path: url.pathname,
    query: queryFields(context, url.searchParams),
    fragment: url.hash.slice(1),
  }
}

function queryFields(context: FunctionContext, query: URLSearchParams): JsonObject {
  spendOnNew(context, 'text', query.size)
  const byName = Map.groupBy(query, ([name]) => name)
  return objectOf(
    'text',
    [...byName].map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

const WORK_OF_PAIR = 15
const WORK_OF_CHARACTER = 0.5

export function queryText(context: FunctionContext, object: JsonObject): string {
  const pairs = Object.entries(object).map(([name, value]): [string, readonly JsonValue[]] => [
    name,
    Array.isArray(value) ? value : [value],
  ])
  spendOnNew(
    context,
    'object',
    pairs.reduce((sum, [, values]) => sum + values.length, 0),
  )
  context.spend(0, pairs.length * WORK_OF_PAIR)
  const query = new URLSearchParams()
  let characters = 0
  for (const [name, values] of pairs)
    for (const value of values) {
      if (value === null || value === undefined) continue
      if (typeof value === 'object')
        throw new ArgumentError('object', 'must hold texts, numbers, conditions and lists of them only')
      characters += name.length + String(value).length
      checkLength('object', characters)
      context.spend(0, WORK_OF_PAIR + (name.length + String(value).length) * WORK_OF_CHARACTER)
      query.append(name, String(value))
    }
  return boundedText('object', query.toString())
}
