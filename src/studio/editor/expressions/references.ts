import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { type Flow, type Wire, wiresOf } from '../model/flow.ts'
import { namesInFlow } from './block-refs.ts'
import { parsedPin } from './parsed-pin.ts'

const known = new WeakMap<Flow, readonly Wire[]>()

/** What expressions read of other blocks, each out-pin once for each in-pin. References to what is not there are left out. */
export function referencesOf(flow: Flow): readonly Wire[] {
  const before = known.get(flow)
  if (before) return before
  const byName = new Map([...namesInFlow(flow)].map(([guid, name]) => [name, guid]))
  const found = [...flow].flatMap(([guid, content]) => referencesInto(flow, byName, guid, content))
  known.set(flow, found)
  return found
}

/** Everything that leads from a block to another one: wires, and what expressions read. */
export function linksOf(flow: Flow): readonly Wire[] {
  return [...wiresOf(flow), ...referencesOf(flow)]
}

function referencesInto(
  flow: Flow,
  byName: ReadonlyMap<string, string>,
  guid: string,
  content: BlockContent,
): Wire[] {
  return content.in_pins.flatMap((pin) =>
    pinReferences(flow, byName, pin).map((from) => ({ from, to: { block: guid, pin: pin.id } })),
  )
}

function pinReferences(flow: Flow, byName: ReadonlyMap<string, string>, pin: SavedInPin): Wire['from'][] {
  if (pin.expression === undefined) return []
  const found = new Map<string, Wire['from']>()
  for (const { name, path } of parsedPin(pin).uses) {
    const saved = pin.refs && Object.hasOwn(pin.refs, name) ? pin.refs[name] : undefined
    const block = saved !== undefined && flow.has(saved) ? saved : byName.get(name)
    const [out] = path
    if (block !== undefined && out !== undefined) found.set(`${block} ${out}`, { block, pin: out })
  }
  return [...found.values()]
}
