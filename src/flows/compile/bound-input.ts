import { PinError } from '../../blocks/block.ts'
import type { InPin } from '../../blocks/pin.ts'
import type { PageContent } from '../../shared/pages/page-content.ts'
import type { PinType } from '../../shared/pin-type.ts'
import { MOST_VALUES, measurePage, measureValue, TooLarge, tooMany } from '../values/value-size.ts'
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
