/**
 * Wires that would run across the drawing from one lane to another. They are told at both of their pins, by the name of the
 * other end, and drawn only while one of their blocks is selected or a run that took them is shown.
 */
import { lanesOf } from '../../../shared/canvas/layout-graph.ts'
import { layoutGraphOf } from '../layout/layout-graph-of.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type Flow, type PinPlace, type Wire, wireId, wiresOf } from '../model/flow.ts'
import { NODE_WIDTH } from '../model/places/node-geometry.ts'

/** Shorter ones are drawn: a line to the next lane says more than a name. In pixels at a zoom of 1, across and down together. */
const LONG = 600

/** Guids of the blocks at the other ends, by pin. */
export interface BlockStubs {
  readonly in: ReadonlyMap<string, readonly string[]>
  readonly out: ReadonlyMap<string, readonly string[]>
}

export interface CrossWires {
  /** Ids of the wires. */
  readonly ids: ReadonlySet<string>
  readonly ofBlock: ReadonlyMap<string, BlockStubs>
}

const known = new WeakMap<Flow, { catalogue: Catalogue; wires: CrossWires }>()

export function crossWires(flow: Flow, catalogue: Catalogue): CrossWires {
  const before = known.get(flow)
  if (before?.catalogue === catalogue) return before.wires
  const wires = findCrossWires(flow, catalogue)
  known.set(flow, { catalogue, wires })
  return wires
}

function findCrossWires(flow: Flow, catalogue: Catalogue): CrossWires {
  const long = wiresOf(flow).filter((wire) => isLong(flow, wire))
  const ids = new Set<string>()
  const ofBlock = new Map<string, { in: Map<string, string[]>; out: Map<string, string[]> }>()
  if (long.length === 0) return { ids, ofBlock }
  const lanes = laneNumbers(flow, catalogue)
  for (const wire of long) {
    if (lanes.get(wire.from.block) === lanes.get(wire.to.block)) continue
    ids.add(wireId(wire))
    note('out', wire.from, wire.to.block)
    note('in', wire.to, wire.from.block)
  }
  return { ids, ofBlock }

  function note(side: 'in' | 'out', { block, pin }: PinPlace, other: string): void {
    const stubs = ofBlock.get(block) ?? { in: new Map<string, string[]>(), out: new Map<string, string[]>() }
    ofBlock.set(block, stubs)
    const others = stubs[side].get(pin) ?? []
    if (!others.includes(other)) stubs[side].set(pin, [...others, other])
  }
}

function isLong(flow: Flow, { from, to }: Wire): boolean {
  const [a, b] = [flow.get(from.block)?.position, flow.get(to.block)?.position]
  return a !== undefined && b !== undefined && Math.abs(b.x - a.x - NODE_WIDTH) + Math.abs(b.y - a.y) > LONG
}

/** What several lanes share is in none. */
function laneNumbers(flow: Flow, catalogue: Catalogue): ReadonlyMap<string, number> {
  const { blocks, links } = layoutGraphOf(flow, catalogue, new Set(flow.keys()))
  const { lanes } = lanesOf(blocks, links)
  return new Map(lanes.flatMap((lane, at) => [...lane].map((guid): [string, number] => [guid, at])))
}
