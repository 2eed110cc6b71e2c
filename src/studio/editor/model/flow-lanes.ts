import { linksOf } from '../expressions/references.ts'
import type { Catalogue } from './block-description.ts'
import type { Flow, Wire } from './flow.ts'

export interface Lanes {
  /** What each trigger sets off, with the pulled blocks that only it needs; the topmost trigger first. */
  readonly lanes: readonly ReadonlySet<string>[]
  /** Pulled blocks that several lanes need and that need none of them, such as a storage. */
  readonly shared: ReadonlySet<string>
}

/** Divides blocks by what sets them off. What hangs together with no trigger is the last lane. */
export function lanesOf(flow: Flow, catalogue: Catalogue, guids: ReadonlySet<string>): Lanes {
  const chosen = [...flow].filter(([guid]) => guids.has(guid))
  const kindOf = (guid: string) => catalogue.get(flow.get(guid)?.type ?? '')?.kind
  const wires = linksOf(flow).filter(({ from, to }) => guids.has(from.block) && guids.has(to.block))
  const into = groupedBy(wires, ({ to }) => to.block)
  const outOf = groupedBy(wires, ({ from }) => from.block)

  const users = new Map<string, Set<number>>()
  const triggers = chosen
    .filter(([guid]) => kindOf(guid) === 'trigger')
    .toSorted(([, a], [, b]) => a.position.y - b.position.y || a.position.x - b.position.x)
  triggers.forEach(([trigger], lane) => {
    const seen = new Set<string>()
    const open = [trigger]
    for (let guid = open.pop(); guid !== undefined; guid = open.pop()) {
      if (seen.has(guid)) continue
      seen.add(guid)
      users.set(guid, (users.get(guid) ?? new Set()).add(lane))
      for (const { from } of into.get(guid) ?? []) if (kindOf(from.block) === 'value') open.push(from.block)
      for (const { to } of outOf.get(guid) ?? []) if (to.pin === 'flow') open.push(to.block)
    }
  })

  const free = new Map<string, boolean>()
  /** Whether it depends on nothing that a trigger or a step gives. */
  function isFree(guid: string): boolean {
    const known = free.get(guid)
    if (known !== undefined) return known
    // In a circle it is not.
    free.set(guid, false)
    const answer = kindOf(guid) === 'value' && (into.get(guid) ?? []).every(({ from }) => isFree(from.block))
    free.set(guid, answer)
    return answer
  }

  const lanes: Set<string>[] = triggers.map(() => new Set())
  const shared = new Set<string>()
  const rest = new Set<string>()
  for (const [guid] of chosen) {
    const used = users.get(guid)
    const [first] = used ?? []
    if (first === undefined) rest.add(guid)
    else if (used && used.size > 1 && isFree(guid)) shared.add(guid)
    else lanes[first]?.add(guid)
  }
  return { lanes: rest.size > 0 ? [...lanes, rest] : lanes, shared }
}

function groupedBy(wires: readonly Wire[], key: (wire: Wire) => string): Map<string, Wire[]> {
  const groups = new Map<string, Wire[]>()
  for (const wire of wires) groups.set(key(wire), [...(groups.get(key(wire)) ?? []), wire])
  return groups
}
