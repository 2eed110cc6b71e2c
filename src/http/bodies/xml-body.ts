/**
 * XML as a value: `<order id="7"><item>tea</item></order>` is `{ order: { "@id": "7", item: "tea" } }`.
 *
 * A document type is refused, so no document declares entities and nothing is fetched. 1 MiB takes up to 170 ms of processor
 * time, in turns of at most 11 ms.
 */

import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { FORBIDDEN } from './form-body.ts'
import { bodyText } from './json-body.ts'

/** Each level is up to two of JSON: an object, and a list where the name is repeated. */
const DEEPEST = 30
/** Characters that are parsed in one turn of the event loop. */
const PIECE = 16_384
/** Of one element. 100,000 took 1.2 s in one turn. */
const MOST_ATTRIBUTES = 1_000
/** Of the elements in one element. 90,000 took 360 ms in one turn. */
const MOST_NAMES = 5_000
const UTF8 = /^(?:utf-?8|us-ascii)$/i

/** `lists`: names of elements that are a list also when there is one. Undefined without a body. Throws INVALID_BODY. */
export async function parseXmlBody(
  bytes: Buffer,
  lists: ReadonlySet<string>,
): Promise<JsonObject | undefined> {
  if (bytes.length === 0) return undefined
  const text = bodyText(bytes).replace(/^\uFEFF/, '')
  const { SaxesParser } = await import('saxes')
  const parser = new SaxesParser()
  const document = new XmlElement('')
  const open = [document]
  parser.on('error', (error) => {
    throw invalid(`is not XML: ${error.message}`, error)
  })
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !UTF8.test(encoding)) throw invalid('is XML in another encoding than UTF-8')
  })
  parser.on('doctype', () => {
    throw invalid('has a document type, which is refused')
  })
  let attributeCount = 0
  parser.on('attribute', () => {
    attributeCount += 1
    if (attributeCount > MOST_ATTRIBUTES)
      throw invalid(`has an element with more than ${MOST_ATTRIBUTES} attributes`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > DEEPEST) throw invalid(`is nested deeper than ${DEEPEST} elements`)
    const element = new XmlElement(checked(name))
    for (const attribute in attributes) element.add(`@${attribute}`, attributes[attribute] ?? '', false)
    attributeCount = 0
    open.push(element)
  })
  const take = (characters: string) => open.at(-1)?.takeText(characters)
  parser.on('text', take)
  parser.on('cdata', take)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element) open.at(-1)?.add(element.name, element.value(), lists.has(element.name))
  })
  for (let at = 0; at < text.length; at += PIECE) {
    if (at > 0) await yieldToEventLoop()
    parser.write(text.slice(at, at + PIECE))
  }
  parser.close()
  const value = document.value()
  return isJsonObject(value) ? value : undefined
}

/** An element that is open. What it holds is put in place at once: a long list is not copied at its end. */
class XmlElement {
  readonly name: string
  #fields: Record<string, JsonValue | JsonValue[]> | undefined
  #names = 0
  #text = ''

  constructor(name: string) {
    this.name = name
  }

  add(name: string, value: JsonValue, isList: boolean): void {
    this.#fields ??= {}
    const before = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
    if (before === undefined) {
      this.#names += 1
      if (this.#names > MOST_NAMES)
        throw invalid(`has an element with more than ${MOST_NAMES} different names`)
      this.#fields[name] = isList ? [value] : value
    } else if (Array.isArray(before)) before.push(value)
    else this.#fields[name] = [before, value]
  }

  takeText(text: string): void {
    this.#text += text
  }

  /** Its text, where there is nothing else. */
  value(): JsonValue {
    if (!this.#fields) return this.#text
    const text = this.#text.trim()
    if (text !== '') this.#fields['#text'] = text
    return this.#fields
  }
}

function checked(name: string): string {
  if (FORBIDDEN.has(name)) throw invalid(`has an element named ${name}`)
  return name
}

function invalid(problem: string, cause?: Error): QuoinError {
  return new QuoinError('INVALID_BODY', `The body ${problem}.`, { cause })
}
