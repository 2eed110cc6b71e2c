/** The items of a JSON file that is too large to be read whole: a list, or an object with a list as `data` or `items`. */
import { createReadStream } from 'node:fs'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { readJson } from '../../../shared/numbers/exact-json.ts'

/** Characters of one item. */
const MOST_CHARACTERS = 4_000_000
const lists = new Set(['data', 'items'])

export interface JsonItem {
  /** From 1. */
  readonly number: number
  readonly item: JsonObject
}

interface Reader {
  /** Open brackets and braces around the next character. */
  depth: number
  /** Depth of the list whose items are read; undefined before it. */
  list: number | undefined
  isText: boolean
  isEscaped: boolean
  /** Of the item, or of the text that is read. */
  text: string
  /** Name of the member of the outer object that comes next. */
  name: string
}

/** Throws for what is no such file, names the item that is none. Holds one item. */
export async function* jsonItems(path: string): AsyncGenerator<JsonItem, void> {
  const reader: Reader = { depth: 0, list: undefined, isText: false, isEscaped: false, text: '', name: '' }
  let number = 0
  for await (const piece of createReadStream(path, { encoding: 'utf8', highWaterMark: 64 * 1024 }))
    for (const text of itemsIn(reader, String(piece).replace(/^\ufeff/, ''))) {
      number += 1
      const read = readJson(text)
      if ('problem' in read) throw new Error(`item ${number} ${read.problem}`)
      if (!isJsonObject(read.value)) throw new Error(`item ${number} is no object`)
      yield { number, item: read.value }
    }
  if (reader.depth > 0) throw new Error('ends in the middle')
  if (reader.list === undefined) throw new Error('has no list of items')
}

/** Not a generator: one would be slower by far. */
function itemsIn(reader: Reader, piece: string): readonly string[] {
  const items: string[] = []
  let from = 0
  for (let at = 0; at < piece.length; at++) {
    const character = piece[at]
    if (reader.isText) {
      if (reader.isEscaped) reader.isEscaped = false
      else if (character === '\\') reader.isEscaped = true
      else if (character === '"') {
        reader.isText = false
        if (reader.list === undefined && reader.depth === 1) reader.name = reader.text + piece.slice(from, at)
      }
      continue
    }
    if (character === '"') {
      reader.isText = true
      if (reader.list === undefined) {
        reader.text = ''
        from = at + 1
      }
    } else if (character === '[' || character === '{') {
      if (open(reader, character)) from = at + 1
      // An item begins behind the comma, or the bracket.
    } else if (character === ']' || character === '}') {
      const isEnd = reader.list !== undefined && reader.depth === reader.list
      if (isEnd) {
        const last = reader.text + piece.slice(from, at)
        if (last.trim() !== '') items.push(last)
        reader.text = ''
        // What comes behind the list is skipped.
        reader.list = Number.MAX_SAFE_INTEGER
      }
      reader.depth -= 1
    } else if (character === ',' && reader.list !== undefined && reader.depth === reader.list) {
      items.push(reader.text + piece.slice(from, at))
      reader.text = ''
      from = at + 1
    }
  }
  const isReading = reader.list === undefined ? reader.isText : reader.depth >= reader.list
  reader.text = isReading ? reader.text + piece.slice(from) : ''
  if (reader.text.length > MOST_CHARACTERS)
    throw new Error(`has an item of more than ${MOST_CHARACTERS.toLocaleString('en-US')} characters`)
  return items
}

/** Whether the list begins here. */
function open(reader: Reader, character: string): boolean {
  const isList =
    reader.list === undefined &&
    character === '[' &&
    (reader.depth === 0 || (reader.depth === 1 && lists.has(reader.name)))
  reader.depth += 1
  if (!isList) return false
  reader.list = reader.depth
  reader.text = ''
  return true
}
