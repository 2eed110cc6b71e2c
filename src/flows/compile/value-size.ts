import { PinError } from '../../blocks/block.ts'
import type { InPin } from '../../blocks/pin.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { PageContent } from '../../shared/pages/page-content.ts'
import type { PinType } from '../../shared/pin-type.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { BlockFailure } from './block-failure.ts'
import type { Node } from './blueprint-graph.ts'

/** Pins of the other types carry scalars, or what is no value of the flow. */
const mayGrow: ReadonlySet<PinType> = new Set([
  'any',
  'array',
  'document',
  'documents',
  'file',
  'mutations',
  'object',
  'query',
  'sort',
  'state',
  'user',
])

type PinValues = Readonly<Record<string, unknown>>

/**
 * Measures what a block gives before anything else gets it: how many values its largest pin holds. Throws BlockFailure,
 * naming the block and the pin, for a value that is too large, and PinError for a page of documents: the client that chose its limit can choose a
 * lower one. Undefined for a block that gives scalars only.
 */
export function inputMeasure(node: Node): ((input: PinValues) => number) | undefined {
  const pins = [...node.out].filter(([, pin]) => mayGrow.has(pin.type) && !pin.frame && !pin.event)
  if (pins.length === 0) return undefined
  const measured = pins.map(([id, { type }]) => ({ id, measure: measureOf(type) }))
  return (input) => {
    let largest = 0
    for (const { id, measure } of measured) {
      const value = input[id]
      if (typeof value !== 'object') continue
      try {
        largest = Math.max(largest, measure(value))
      } catch (error) {
        throw isPage(node, id) ? pageFailure(error) : failureOf(node, id, error)
      }
    }
    return largest
  }
}

/** The same for all that arrives at a pin that takes several wires: each is bounded, but there may be a thousand. */
export function wiresMeasure(
  node: Node,
  id: string,
  { type }: InPin,
): ((values: readonly unknown[]) => void) | undefined {
  if (!mayGrow.has(type)) return undefined
  const measure = measureOf(type)
  return (values) => {
    let sum = 0
    try {
      for (const value of values) {
        sum += measure(value)
        if (sum > MOST_VALUES) throw tooMany()
      }
    } catch (error) {
      throw failureOf(node, id, error)
    }
  }
}

function measureOf(type: PinType): (value: unknown) => number {
  if (type !== 'state') return measureValue
  return (value) => (isContent(value) ? measurePage(value) : measureValue(value))
}

function isPage(node: Node, pin: string): boolean {
  return node.out.get(pin)?.type === 'documents' && node.in.has('limit')
}

function pageFailure(error: unknown): unknown {
  return error instanceof TooLarge
    ? new PinError('limit', `must be lower: the page of documents ${error.message.replace(/:.*/, '')}`)
    : error
}

/** Not the failure of an in-pin: a value that grew in the flow is never the requester's fault. */
function failureOf(node: Node, pin: string, error: unknown): unknown {
  if (!(error instanceof TooLarge)) return error
  const { guid, type } = node.block
  const place = `of the block ${node.definition.title} (${type})`
  return new BlockFailure({ block: guid, type, pin }, new Error(`${pin} ${place} ${error.message}`))
}

function isContent(value: unknown): value is PageContent {
  return typeof value === 'object' && value !== null && 'node' in value && 'before' in value
}

// How large the values of a run may become. Blocks share the parts of their values: 50 blocks that each hold the one
// before twice mean 10^15 values in a few KB of memory, and the first that walks them (a write, a log line, a page) holds
// the process for ever. So a value is measured where a block hands it on, as the tree that it would be written as.
//
// The cost follows the memory, not the tree: a part of {@link KEPT} values or more is measured once, because values never
// change. Small values, which are nearly all, are walked without any memory: 50 to 150 ns for an object of five fields.

/** As many as a reply may hold: see `http/endpoints/request-and-reply.ts`. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 64 * 1024 * 1024
/** Deeper than any document (64), with room for what a flow puts around it. */
const DEEPEST = 100
/** Smaller parts are measured again each time. */
const RETAINED = 32
/** Characters of a stored text for each of its values. */
const CHARACTERS_OF_VALUE = 16
/** Of a stored text that may hold more, the commas are counted: 160 KB have them counted in 0.1 ms. */
const FEW = 10_000

interface Size {
  readonly values: number
  readonly characters: number
  readonly depth: number
}

const sizes = new WeakMap<object, Size>()

/** A value that is too large. Its message finishes the sentence "<pin> …". */
export class TooLarge extends Error {}

/** How many values it holds. Throws TooLarge. */
export function measureValue(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  const known = sizes.get(value)
  if (known) return known.values
  const left = walkSmall(value, RETAINED, 0)
  return left >= 0 ? RETAINED - left : new Scale().add(value)
}

/** How many values and characters it holds. Throws TooLarge. */
export function sizeOfValue(value: unknown): { readonly values: number; readonly characters: number } {
  const scale = new Scale()
  scale.add(value)
  return scale.size()
}

/** The same for what a `state` pin carries: nodes in a chain as long as the page, which is no depth. Throws TooLarge. */
export function measurePage(content: PageContent): number {
  const scale = new Scale()
  const fresh: PageContent[] = []
  let at: PageContent | undefined = content
  for (; at; at = at.before) {
    const known = sizes.get(at)
    if (known) {
      scale.addKnown(known)
      break
    }
    fresh.push(at)
  }
  for (const one of fresh.reverse()) {
    scale.add(one.node)
    sizes.set(one, scale.size())
  }
  return scale.size().values
}

/** How many of `left` values are left behind this one; negative: it is not small. */
function walkSmall(value: unknown, left: number, depth: number): number {
  if (typeof value === 'string') return value.length > 4_096 ? -1 : left - 1
  if (typeof value !== 'object' || value === null) return left - 1
  if (depth > 8 || value instanceof StoredJson) return -1
  let rest = left - 1
  if (Array.isArray(value)) {
    if (value.length > rest) return -1
    for (const item of value) {
      rest = walkSmall(item, rest, depth + 1)
      if (rest < 0) return -1
    }
  } else if (isJsonObject(value)) {
    for (const key in value) {
      rest = walkSmall(value[key], rest, depth + 1)
      if (rest < 0) return -1
    }
  }
  return rest
}

/** Adds up values and stops at the first one that is too much. */
class Scale {
  #values = 0
  #characters = 0
  #deepest = 0

  size(): Size {
    return { values: this.#values, characters: this.#characters, depth: this.#deepest }
  }

  addKnown({ values, characters, depth }: Size): void {
    this.#values += values
    this.#characters += characters
    this.#deepest = Math.max(this.#deepest, depth)
    this.#check()
  }

  add(value: unknown): number {
    this.#deepest = Math.max(this.#deepest, this.#walk(value, 0))
    this.#check()
    return this.#values
  }

  /** How deep it goes. `level`: how deep it stands. */
  #walk(value: unknown, level: number): number {
    this.#values += 1
    if (typeof value === 'string') this.#characters += value.length
    if (typeof value !== 'object' || value === null) return 0
    if (value instanceof StoredJson) {
      const stored = sizes.get(value) ?? sizeOfStored(value)
      this.#values += stored.values
      this.#characters += stored.characters
      return stored.depth
    }
    if (level >= DEEPEST) throw new TooLarge(`is nested deeper than ${DEEPEST} levels`)
    const known = sizes.get(value)
    if (known) {
      if (level + known.depth > DEEPEST) throw new TooLarge(`is nested deeper than ${DEEPEST} levels`)
      this.#values += known.values - 1
      this.#characters += known.characters
      this.#check()
      return known.depth
    }
    const values = this.#values - 1
    const characters = this.#characters
    let depth = 0
    if (Array.isArray(value)) {
      for (const item of value) depth = Math.max(depth, this.#walk(item, level + 1))
    } else if (isJsonObject(value)) {
      for (const key in value) {
        this.#characters += key.length
        depth = Math.max(depth, this.#walk(value[key], level + 1))
      }
    }
    this.#check()
    const size = {
      values: this.#values - values,
      characters: this.#characters - characters,
      depth: depth + 1,
    }
    if (size.values >= RETAINED) sizes.set(value, size)
    return size.depth
  }

  #check(): void {
    if (this.#values > MOST_VALUES) throw tooMany()
    if (this.#characters > MOST_CHARACTERS)
      throw new TooLarge(
        `holds more than ${MOST_CHARACTERS.toLocaleString('en-US')} characters: use a smaller value`,
      )
  }
}

/** Bounded where it was stored or found, and not parsed for this. A long text in it is one value, so commas say more than its length. */
function sizeOfStored(stored: StoredJson): Size {
  const { text } = stored
  const most = Math.floor(text.length / CHARACTERS_OF_VALUE)
  const values = most > FEW ? commasIn(text, most) : most
  const size = { values, characters: text.length, depth: 1 }
  if (most > FEW) sizes.set(stored, size)
  return size
}

/** Stops at `most`. */
function commasIn(text: string, most: number): number {
  let commas = 0
  for (let at = text.indexOf(','); at >= 0 && commas < most; at = text.indexOf(',', at + 1)) commas += 1
  return commas
}

function tooMany(): TooLarge {
  return new TooLarge(
    `holds more than ${MOST_VALUES.toLocaleString('en-US')} values, those that it holds several times counted each time: use a smaller value`,
  )
}
