import { canConvert } from '../../../../shared/pin-type.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, sameWire, type Wire, wiresInto } from '../flow.ts'
import { nameOf } from '../words/block-names.ts'
import { carriedType, pinsOf } from './pins.ts'

/**
 * Why a wire cannot be, as one sentence for the builder, or undefined. The same rules as the server's; what only a whole
 * blueprint can tell (a value read outside its list) is left to its check.
 */
export function wireProblem(flow: Flow, catalogue: Catalogue, wire: Wire): string | undefined {
  const source = flow.get(wire.from.block)
  const target = flow.get(wire.to.block)
  if (!source || !target) return modelTexts.blockGone
  const out = pinsOf(source, catalogue).out.get(wire.from.pin)
  const into = pinsOf(target, catalogue).in.get(wire.to.pin)
  if (!out) return modelTexts.noOutPin(nameOf(source, catalogue), wire.from.pin)
  if (!into) return modelTexts.noInPin(nameOf(target, catalogue), wire.to.pin)
  if (wiresInto(wire.to.block, target).some((one) => sameWire(one, wire))) return modelTexts.wireExists
  if (into.language === 'where') return modelTexts.expressionOnly(wire.to.pin)
  const gives = carriedType(out, into.type)
  if (!canConvert(gives, into.type)) return mismatch(gives, into.type)
  if (wire.from.block === wire.to.block && !(out.frame && into.perFrame)) return modelTexts.wiredToItself
  const perItem = into.perFrame === true || out.frame === true
  if (into.type !== 'flow' && !perItem && dependsOn(flow, catalogue, wire.from.block, wire.to.block))
    return modelTexts.dependsOnItself
  return undefined
}

function mismatch(gives: string, takes: string): string {
  if (takes === 'flow') return modelTexts.wantsSignal(gives)
  if (gives === 'flow') return modelTexts.givesSignal(takes)
  return modelTexts.otherType(takes, gives)
}

/**
 * Whether the value of one block is worked out, through pulled blocks only, from what another one gives. Pins that are
 * pulled once for each item do not count: what they pull may read the item of the very block that they are on.
 */
function dependsOn(flow: Flow, catalogue: Catalogue, block: string, on: string): boolean {
  const pulled = (guid: string) => catalogue.get(flow.get(guid)?.type ?? '')?.kind === 'value'
  if (!pulled(on)) return false
  const seen = new Set<string>()
  const open = [block]
  for (let guid = open.pop(); guid !== undefined; guid = open.pop()) {
    if (seen.has(guid) || !pulled(guid)) continue
    if (guid === on) return true
    seen.add(guid)
    const content = flow.get(guid)
    if (!content) continue
    const pins = pinsOf(content, catalogue).in
    for (const { from, to } of wiresInto(guid, content))
      if (!pins.get(to.pin)?.perFrame) open.push(from.block)
  }
  return false
}
