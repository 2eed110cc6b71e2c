import type { PinType } from '../../../../shared/pin-type.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow, PinPlace } from '../flow.ts'
import { wordsOf } from '../words/block-labels.ts'
import { fittingPins } from './fitting-blocks.ts'
import { pinsOf } from './pins.ts'
import { wireProblem } from './wire-check.ts'

export interface WireSource {
  readonly place: PinPlace
  /** Of the block: its title, which tells it from others of its type. */
  readonly name: string
  /** Its type, and its name in expressions: what it may be searched by too. */
  readonly kind: string
  readonly type: PinType
}

/** The out-pins that a wire to the in-pin could come from, block by block, what fits best first within each. */
export function wireSources(flow: Flow, catalogue: Catalogue, to: PinPlace): WireSource[] {
  return [...flow].flatMap(([block, content]) => {
    const { title: name, kind } = wordsOf(flow, catalogue, block)
    const pins = pinsOf(content, catalogue).out
    return fittingPins(flow, catalogue, { side: 'to', place: to }, block).flatMap((pin) => {
      const place = { block, pin }
      const type = pins.get(pin)?.type
      return type && wireProblem(flow, catalogue, { from: place, to }) === undefined
        ? [{ place, name, kind, type }]
        : []
    })
  })
}
