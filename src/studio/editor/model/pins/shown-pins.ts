/** Which pins of a block are drawn: what is used or needed, and beside it what there is room for. The rest is folded. */
import type { InPin, OutPin } from '../../../../shared/api/blocks/blocks.ts'
import { linksOf } from '../../expressions/references.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf } from '../flow.ts'
import { pinsOf } from './pins.ts'

export interface ShownPins {
  /** In the order of the definition. */
  readonly in: readonly string[]
  readonly out: readonly string[]
  /** Pins that are not drawn. */
  readonly folded: number
  /** All are drawn, though some of them would be folded. */
  readonly isUnfolded: boolean
}

/** Out-pins that are drawn at least, where there are so many. */
const LEAST_OUT = 3

const known = new WeakMap<Flow, { catalogue: Catalogue; shown: Map<string, ShownPins> }>()

export function shownPins(flow: Flow, catalogue: Catalogue, guid: string): ShownPins {
  const before = known.get(flow)
  const shown = before?.catalogue === catalogue ? before.shown : new Map<string, ShownPins>()
  if (before?.shown !== shown) known.set(flow, { catalogue, shown })
  const found = shown.get(guid) ?? foldedPins(flow, catalogue, guid)
  shown.set(guid, found)
  return found
}

/** The same block with all of its pins. */
export function allPins(flow: Flow, catalogue: Catalogue, guid: string): ShownPins {
  const content = flow.get(guid)
  const pins = content && pinsOf(content, catalogue)
  return {
    in: [...(pins?.in.keys() ?? [])],
    out: [...(pins?.out.keys() ?? [])],
    folded: 0,
    isUnfolded: shownPins(flow, catalogue, guid).folded > 0,
  }
}

function foldedPins(flow: Flow, catalogue: Catalogue, guid: string): ShownPins {
  const content = flow.get(guid)
  if (!content) return { in: [], out: [], folded: 0, isUnfolded: false }
  const pins = pinsOf(content, catalogue)
  const into = [...pins.in].filter(([id, pin]) => isRequested(pin) || inPinOf(content, id)).map(([id]) => id)
  const used = usedOut(flow).get(guid) ?? new Set<string>()
  const out = shownOut([...pins.out], used)
  return {
    in: into,
    out,
    folded: pins.in.size - into.length + pins.out.size - out.length,
    isUnfolded: false,
  }
}

function isRequested({ type, required }: InPin): boolean {
  return type === 'flow' || required === true
}

/** Those in use, where the flow goes on, and others as far as there is room. */
function shownOut(pins: readonly [string, OutPin][], used: ReadonlySet<string>): string[] {
  const first = new Set(pins.map(([id]) => id).filter((id) => used.has(id) || id === 'flow'))
  const rest = pins.filter(([id, { type }]) => !first.has(id) && id !== 'error' && type !== 'connection')
  const more = new Set(rest.slice(0, Math.max(0, LEAST_OUT - first.size)).map(([id]) => id))
  return pins.map(([id]) => id).filter((id) => first.has(id) || more.has(id))
}

const uses = new WeakMap<Flow, ReadonlyMap<string, ReadonlySet<string>>>()

/** By block: out-pins that a wire leaves or an expression reads. */
export function usedOut(flow: Flow): ReadonlyMap<string, ReadonlySet<string>> {
  const before = uses.get(flow)
  if (before) return before
  const found = new Map<string, Set<string>>()
  for (const { from } of linksOf(flow))
    found.set(from.block, (found.get(from.block) ?? new Set<string>()).add(from.pin))
  uses.set(flow, found)
  return found
}
