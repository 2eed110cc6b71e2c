import type { BlockDescription, InPin, OutPin } from '../../../../shared/api/blocks/blocks.ts'
import { canConvert, type PinType } from '../../../../shared/pin-type.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow, PinPlace, Wire } from '../flow.ts'
import { carriedType, pinsOf } from './pins.ts'

/** A wire of which only one end is held: from an out-pin, or towards an in-pin. */
export interface DanglingWire {
  readonly side: 'from' | 'to'
  readonly place: PinPlace
}

export interface FittingBlock {
  readonly description: BlockDescription
  /** The pin of the new block that the wire would end at. */
  readonly pin: string
  /** Higher fits better. */
  readonly rank: number
}

/** The blocks that could be at the other end, each with its best pin, the best first. */
export function fittingBlocks(flow: Flow, catalogue: Catalogue, wire: DanglingWire): FittingBlock[] {
  const content = flow.get(wire.place.block)
  if (!content) return []
  const pins = pinsOf(content, catalogue)
  const all = new Set(catalogue.values())
  if (wire.side === 'from') {
    const out = pins.out.get(wire.place.pin)
    return out ? ranked([...all].flatMap((one) => bestIn(one, out, wire.place.pin))) : []
  }
  const into = pins.in.get(wire.place.pin)
  return into ? ranked([...all].flatMap((one) => bestOut(one, into, wire.place.pin))) : []
}

/** The pins of one block that the wire could end at, the best first. */
export function fittingPins(flow: Flow, catalogue: Catalogue, wire: DanglingWire, block: string): string[] {
  const content = flow.get(block)
  const held = flow.get(wire.place.block)
  if (!content || !held) return []
  const [pins, holding] = [pinsOf(content, catalogue), pinsOf(held, catalogue)]
  if (wire.side === 'from') {
    const out = holding.out.get(wire.place.pin)
    if (!out) return []
    return bestFirst(
      [...pins.in].map(([id, pin]) => [id, rankOf(out, pin, { out: wire.place.pin, into: id })]),
    )
  }
  const into = holding.in.get(wire.place.pin)
  if (!into) return []
  return bestFirst(
    [...pins.out].map(([id, pin]) => [id, rankOf(pin, into, { out: id, into: wire.place.pin })]),
  )
}

/** Both ends of a dangling wire that has found its other one. */
export function wireTo({ side, place }: DanglingWire, other: PinPlace): Wire {
  return side === 'from' ? { from: place, to: other } : { from: other, to: place }
}

function bestIn(description: BlockDescription, out: OutPin, held: string): FittingBlock[] {
  const [pin] = bestFirst(
    Object.entries(description.in).map(([id, one]) => [id, rankOf(out, one, { out: held, into: id })]),
  )
  if (pin === undefined) return []
  const one = description.in[pin]
  return one ? [{ description, pin, rank: rankOf(out, one) }] : []
}

function bestOut(description: BlockDescription, into: InPin, held: string): FittingBlock[] {
  const [pin] = bestFirst(
    Object.entries(description.out).map(([id, one]) => [id, rankOf(one, into, { out: id, into: held })]),
  )
  if (pin === undefined) return []
  const one = description.out[pin]
  return one ? [{ description, pin, rank: rankOf(one, into) }] : []
}

/** Less than another type makes: `value` goes to `value` where `params` would fit as well. */
const SAME_NAME = 0.5

/** 0: it does not fit. What has the very type comes before what is converted, and what is needed before what may be. */
function rankOf(out: OutPin, into: InPin, ends?: { readonly out: string; readonly into: string }): number {
  const gives: PinType = carriedType(out, into.type)
  if (!canConvert(gives, into.type)) return 0
  if (out.carries && into.type === 'flow') return 2
  // An item has a value only within its list.
  if (out.frame && !into.perFrame) return 1
  const near = gives === into.type ? 8 : into.type === 'any' || gives === 'any' ? 2 : 4
  return near + (into.required ? 1 : 0) + (ends && ends.out === ends.into ? SAME_NAME : 0)
}

function bestFirst(pins: readonly (readonly [string, number])[]): string[] {
  return pins
    .filter(([, rank]) => rank > 0)
    .toSorted((a, b) => b[1] - a[1])
    .map(([id]) => id)
}

function ranked(found: readonly FittingBlock[]): FittingBlock[] {
  return found.toSorted((a, b) => b.rank - a.rank || a.description.title.localeCompare(b.description.title))
}
