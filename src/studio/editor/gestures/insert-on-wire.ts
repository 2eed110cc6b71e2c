import type { Catalogue } from '../model/block-description.ts'
import { connect, disconnect, moveBlocks, newContent } from '../model/changes/flow-changes.ts'
import { type Flow, type Wire, wiresOf, withBlock } from '../model/flow.ts'
import { type DanglingWire, fittingPins, wireTo } from '../model/pins/fitting-blocks.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { NODE_WIDTH, onGrid, sizeOf } from '../model/places/node-geometry.ts'

/** Between two blocks that follow each other. */
const GAP = 70

/** The flow with a block, which is in it already, in the middle of a wire; undefined where its pins do not fit there. */
export function insertOnWire(flow: Flow, catalogue: Catalogue, wire: Wire, guid: string): Flow | undefined {
  const without = disconnect(flow, wire)
  const into = joined(without, catalogue, { side: 'from', place: wire.from }, guid)
  return into && joined(into, catalogue, { side: 'to', place: wire.to }, guid)
}

/** Whether a new block of the type could stand in the middle of the wire. */
export function fitsOnWire(flow: Flow, catalogue: Catalogue, wire: Wire, type: string): boolean {
  const added = withBlock(flow, NEW, newContent(type, catalogue, { x: 0, y: 0 }))
  return insertOnWire(added, catalogue, wire, NEW) !== undefined
}

const NEW = 'new'

/**
 * The wire that a new block of the type goes into when it is added after an out-pin: content of a page leads through one block after the
 * other, and a branch of it is shown nowhere. Undefined where nothing, or more than one block, comes there.
 */
export function wireBehind(
  flow: Flow,
  catalogue: Catalogue,
  { side, place }: DanglingWire,
  type: string,
): Wire | undefined {
  const content = flow.get(place.block)
  if (side !== 'from' || !content || pinsOf(content, catalogue).out.get(place.pin)?.type !== 'state')
    return undefined
  const [wire, ...others] = wiresOf(flow).filter(
    ({ from }) => from.block === place.block && from.pin === place.pin,
  )
  if (!wire || others.length > 0 || !fitsOnWire(flow, catalogue, wire, type)) return undefined
  return wire
}

/** With the wire from or to the block's best pin. */
function joined(flow: Flow, catalogue: Catalogue, held: DanglingWire, guid: string): Flow | undefined {
  const wires = fittingPins(flow, catalogue, held, guid).map((pin) => wireTo(held, { block: guid, pin }))
  const fitting = wires.find((wire) => wireProblem(flow, catalogue, wire) === undefined)
  return fitting && connect(flow, catalogue, fitting)
}

/** The block between those that it was put between; what comes behind it makes room, as far as it stands in the way. */
export function withRoomOnWire(flow: Flow, catalogue: Catalogue, { from, to }: Wire, guid: string): Flow {
  const [source, target] = [flow.get(from.block)?.position, flow.get(to.block)?.position]
  if (!source || !target) return flow
  const x = source.x + NODE_WIDTH + GAP
  const y = Math.abs(source.y - target.y) < sizeOf(flow, catalogue, guid).height ? target.y : source.y
  const missing = x + NODE_WIDTH + GAP - target.x
  const places = new Map([[guid, onGrid({ x, y })]])
  if (missing > 0)
    for (const other of behind(flow, to.block)) {
      const at = flow.get(other)?.position
      if (at && other !== guid && at.x >= target.x) places.set(other, onGrid({ x: at.x + missing, y: at.y }))
    }
  return moveBlocks(flow, places)
}

/** The block and all that wires lead to from it. */
function behind(flow: Flow, start: string): ReadonlySet<string> {
  const next = Map.groupBy(wiresOf(flow), ({ from }) => from.block)
  const found = new Set<string>()
  const open = [start]
  for (let guid = open.pop(); guid !== undefined; guid = open.pop()) {
    if (found.has(guid)) continue
    found.add(guid)
    for (const { to } of next.get(guid) ?? []) open.push(to.block)
  }
  return found
}
