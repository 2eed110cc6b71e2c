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
  /** What each trigger sets off, with the values that only it needs. Lanes that share steps are side by side. */
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
  const sharing = [...users].filter(([id, used]) => used.size > 1 && !isFree(id)).map(([, used]) => used)
  const order = sideBySide(triggers.length, sharing)
  const lanes: Set<string>[] = triggers.map(() => new Set())
  const shared = new Set<string>()
  const rest = new Set<string>()
  for (const { id } of blocks) {
    const used = users.get(id)
    const first = used && order.find((lane) => used.has(lane))
    if (first === undefined) rest.add(id)
    else if (used && used.size > 1 && isFree(id)) shared.add(id)
    else lanes[first]?.add(id)
  }
  const ordered = order.flatMap((lane) => lanes[lane] ?? [])
  return { lanes: rest.size > 0 ? [...ordered, rest] : ordered, shared }
}

/** With more steps that lanes share, lanes stay in their order: each is looked at for each lane. */
const MOST_SHARED = 100

/** Lanes in their order, but each behind the one before it with which it shares most steps: their wires lead over no other lane. */
function sideBySide(count: number, sharing: readonly ReadonlySet<number>[]): readonly number[] {
  const left = Array.from({ length: count }, (_, lane) => lane)
  if (sharing.length > MOST_SHARED || count > MOST_SHARED) return left
  const order: number[] = []
  while (left.length > 0) {
    const last = order.at(-1)
    const common = (lane: number) =>
      last === undefined ? 0 : sharing.filter((used) => used.has(lane) && used.has(last)).length
    const most = Math.max(...left.map(common))
    order.push(
      ...left.splice(
        left.findIndex((lane) => common(lane) === most),
        1,
      ),
    )
  }
  return order
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
