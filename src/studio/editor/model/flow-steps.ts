/** Steps of a flow in a row, as one edits them without a mouse: put one behind another, move one up or down. */
import type { BlockContent } from '../../../shared/blueprint.ts'
import type { Catalogue } from './block-description.ts'
import { type Flow, inPinOf, type PinPlace } from './flow.ts'
import { pinsOf } from './pins/pins.ts'

/** Puts a block, which is in the flow already, behind an out-pin: what came there comes behind the new block. */
export function insertBehind(flow: Flow, catalogue: Catalogue, place: PinPlace, guid: string): Flow {
  const content = flow.get(guid)
  if (!content || !pinsOf(content, catalogue).in.has('flow')) return flow
  const goesOn = pinsOf(content, catalogue).out.has('flow')
  const next = new Map(flow)
  if (goesOn)
    for (const [other, one] of flow) {
      if (other !== guid)
        setFlow(next, other, one, (end) => (isEnd(end, place) ? { block: guid, pin: 'flow' } : end))
    }
  next.set(guid, withFlow(content, [{ block: place.block, pin: place.pin }]))
  return next
}

/** Swaps a step with the one before it in a plain row, or gives undefined where there is no such row. */
export function moveStepUp(flow: Flow, guid: string): Flow | undefined {
  const content = flow.get(guid)
  const [source, ...others] = inPinOf(content, 'flow')?.from ?? []
  if (!content || !source || others.length > 0 || source.pin !== 'flow') return undefined
  const before = flow.get(source.block)
  const former = inPinOf(before, 'flow')?.from ?? []
  if (!before || former.length === 0) return undefined
  const next = new Map(flow)
  for (const [other, one] of flow)
    setFlow(next, other, one, (end) =>
      isEnd(end, { block: guid, pin: 'flow' }) ? { block: source.block, pin: 'flow' } : end,
    )
  next.set(guid, { ...withFlow(content, former), position: before.position })
  next.set(source.block, {
    ...withFlow(before, [{ block: guid, pin: 'flow' }]),
    position: content.position,
  })
  return next
}

export function moveStepDown(flow: Flow, guid: string): Flow | undefined {
  const behind = [...flow].find(([, content]) =>
    inPinOf(content, 'flow')?.from?.some((end) => isEnd(end, { block: guid, pin: 'flow' })),
  )
  return behind && moveStepUp(flow, behind[0])
}

function isEnd(end: PinPlace, place: PinPlace): boolean {
  return end.block === place.block && end.pin === place.pin
}

function setFlow(
  flow: Map<string, BlockContent>,
  guid: string,
  content: BlockContent,
  change: (end: PinPlace) => PinPlace,
): void {
  const from = inPinOf(content, 'flow')?.from
  if (!from) return
  const changed = from.map(change)
  if (changed.some((end, at) => end !== from[at])) flow.set(guid, withFlow(content, changed))
}

function withFlow(content: BlockContent, from: readonly PinPlace[]): BlockContent {
  const pin = { id: 'flow', from: from.map(({ block, pin: id }) => ({ block, pin: id })) }
  const at = content.in_pins.findIndex(({ id }) => id === 'flow')
  return { ...content, in_pins: at < 0 ? [...content.in_pins, pin] : content.in_pins.with(at, pin) }
}
