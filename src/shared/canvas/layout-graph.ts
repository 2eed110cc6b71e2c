/** What the automatic layout knows of a drawing: boxes, and what leads from one to another. */
export interface LayoutBlock {
  readonly id: string
  readonly width: number
  readonly height: number
  /** A trigger begins a lane; a value stands just before what uses it. */
  readonly kind: 'trigger' | 'flow' | 'value'
}

export interface LayoutLink {
  readonly from: string
  readonly to: string
  /** From the top of each block to its pin. */
  readonly fromY: number
  readonly toY: number
  /** `flow`: the next step, on one line where it can be. `branch`: another way out. `value`: a wire. `read`: by an expression. */
  readonly kind: 'flow' | 'branch' | 'value' | 'read'
}

export interface Place {
  readonly x: number
  readonly y: number
}

function isSignal({ kind }: LayoutLink): boolean {
  return kind === 'flow' || kind === 'branch'
}

export interface Lanes {
  /** What each trigger sets off, with the values that only it needs; in the order of the triggers. */
  readonly lanes: readonly ReadonlySet<string>[]
  /** Values that several lanes need and that need none of them, such as a storage. */
  readonly shared: ReadonlySet<string>
}

/** Divides blocks by what sets them off. What hangs together with no trigger is the last lane. */
export function lanesOf(blocks: readonly LayoutBlock[], links: readonly LayoutLink[]): Lanes {
  const kinds = new Map(blocks.map(({ id, kind }) => [id, kind]))
  const inside = links.filter(({ from, to }) => kinds.has(from) && kinds.has(to))
  const into = Map.groupBy(inside, ({ to }) => to)
  const outOf = Map.groupBy(inside.filter(isSignal), ({ from }) => from)
  const triggers = blocks.filter(({ kind }) => kind === 'trigger')
  const users = new Map<string, Set<number>>()
  for (const [lane, { id: trigger }] of triggers.entries()) {
    const open = [trigger]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const used = users.get(id) ?? new Set<number>()
      if (used.has(lane)) continue
      users.set(id, used.add(lane))
      for (const { from } of into.get(id) ?? []) if (kinds.get(from) === 'value') open.push(from)
      for (const { to } of outOf.get(id) ?? []) open.push(to)
    }
  }
  const isFree = freeValues(kinds, into)
  const lanes: Set<string>[] = triggers.map(() => new Set())
  const shared = new Set<string>()
  const rest = new Set<string>()
  for (const { id } of blocks) {
    const used = users.get(id)
    const [first] = used ?? []
    if (first === undefined) rest.add(id)
    else if (used && used.size > 1 && isFree(id)) shared.add(id)
    else lanes[first]?.add(id)
  }
  return { lanes: rest.size > 0 ? [...lanes, rest] : lanes, shared }
}

/** Whether a value depends on nothing that a trigger or a step gives. In a circle it does. */
function freeValues(
  kinds: ReadonlyMap<string, LayoutBlock['kind']>,
  into: ReadonlyMap<string, readonly LayoutLink[]>,
): (id: string) => boolean {
  const bound = new Set<string>()
  const open = [...kinds].filter(([, kind]) => kind !== 'value').map(([id]) => id)
  const outOf = Map.groupBy([...into.values()].flat(), ({ from }) => from)
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (bound.has(id)) continue
    bound.add(id)
    for (const { to } of outOf.get(id) ?? []) open.push(to)
  }
  return (id) => kinds.get(id) === 'value' && !bound.has(id)
}
