/**
 * Pages of documents without the fields that are hidden from a user, a part of a page in each turn of the event loop: a page
 * of 32 MB took 345 ms in one turn, and takes 20 ms at a time so. One document is never parted.
 */
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { StoredJson } from '../../storage/stored-json.ts'

/** Characters that are read and written in a turn: about 3 ms. */
const PART = 128 * 1024

/** `stored`: a list of documents. */
export function visiblePage(stored: StoredJson, hidden: readonly string[]): MaybePromise<StoredJson> {
  return hidden.length === 0 || stored.text.length <= PART
    ? visibleOf(stored, hidden)
    : inParts(stored, hidden)
}

async function inParts({ text }: StoredJson, hidden: readonly string[]): Promise<StoredJson> {
  const parts: string[] = []
  let from = text.indexOf('{')
  let end = from
  while (end >= 0 && from >= 0) {
    end = endOfDocument(text, end)
    const next = text.indexOf('{', end)
    if (next >= 0 && end - from < PART) {
      end = next
      continue
    }
    const part = visibleOf(new StoredJson(`[${text.slice(from, end)}]`), hidden).text.slice(1, -1)
    parts.push(part)
    await yieldToEventLoop()
    from = next
    end = next
  }
  return new StoredJson(`[${parts.join(',')}]`)
}

/** The place behind the object that begins at `from`. */
function endOfDocument(text: string, from: number): number {
  const signs = /["{}]/g
  signs.lastIndex = from
  let depth = 0
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    if (found[0] === '"') signs.lastIndex = endOfText(text, found.index)
    else depth += found[0] === '{' ? 1 : -1
    if (depth === 0) return found.index + 1
  }
  throw new SyntaxError('A stored page ends within a document.')
}

/** The place behind the text whose quote is at `from`. */
function endOfText(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  // From 0 the documents would be read again, without end.
  if (quote < 0) throw new SyntaxError('A stored page ends within a text.')
  return quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0
  while (text[quote - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

// Documents without the fields that are hidden from a user.

const wholes = new WeakMap<StoredJson, StoredJson>()

/** The document, or list of documents, without these fields. In lists of objects they are hidden in each object. */
export function visibleOf(stored: StoredJson, hidden: readonly string[]): StoredJson {
  if (hidden.length === 0) return stored
  const paths = hidden.map((name) => name.split('.'))
  const visible = new StoredJson(JSON.stringify(without(stored.value, paths)))
  wholes.set(visible, stored)
  return visible
}

/** The document as it is stored: what is audited of a write is not less for what its author may not see. */
export function wholeOf(stored: StoredJson): StoredJson {
  return wholes.get(stored) ?? stored
}

function without(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => without(item, paths))
  if (!isJsonObject(value)) return value
  const visible = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const own = paths.filter(([first]) => first === name)
    if (own.length === 0) return [[name, one]]
    if (own.some(({ length }) => length === 1)) return []
    const inside = own.map((path) => path.slice(1))
    return [[name, without(one, inside)]]
  })
  return Object.fromEntries(visible)
}
