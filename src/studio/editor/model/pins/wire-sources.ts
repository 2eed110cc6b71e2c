import type { PinType } from '../../../../shared/pin-type.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow, PinPlace } from '../flow.ts'
import { nameOf } from '../words/block-names.ts'
import { fittingPins } from './fitting-blocks.ts'
import { pinsOf } from './pins.ts'
import { wireProblem } from './wire-check.ts'

export interface WireSource {
  readonly place: PinPlace
  readonly name: string
  readonly type: PinType
}

/** The out-pins that a wire to the in-pin could come from, block by block, what fits best first within each. */
export function wireSources(flow: Flow, catalogue: Catalogue, to: PinPlace): WireSource[] {
  return [...flow].flatMap(([block, content]) => {
    const name = nameOf(content, catalogue)
    const pins = pinsOf(content, catalogue).out
    return fittingPins(flow, catalogue, { side: 'to', place: to }, block).flatMap((pin) => {
      const place = { block, pin }
      const type = pins.get(pin)?.type
      return type && wireProblem(flow, catalogue, { from: place, to }) === undefined
        ? [{ place, name, type }]
        : []
    })
  })
}
