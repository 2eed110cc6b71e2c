import type { LayoutBlock, LayoutLink } from './layout-graph.ts'

/** The column of each block, from 0: after all that leads to it; values just before the first block that uses them. */
export function layersOf(blocks: readonly LayoutBlock[], links: readonly LayoutLink[]): Map<string, number> {
  const kinds = new Map(blocks.map(({ id, kind }) => [id, kind]))
  const used = links.filter(
    ({ from, to, kind }) =>
      kinds.has(from) && kinds.has(to) && (kind !== 'read' || kinds.get(from) === 'value'),
  )
  const { order, next } = inOrder(
    blocks,
    Map.groupBy(used, ({ from }) => from),
  )
  const layers = new Map(order.map((id) => [id, 0]))
  for (const id of order)
    for (const to of next.get(id) ?? []) {
      const least = (layers.get(id) ?? 0) + 1
      if (least > (layers.get(to) ?? 0)) layers.set(to, least)
    }
  for (const id of order.toReversed()) {
    const after = next.get(id) ?? []
    if (kinds.get(id) === 'value' && after.length > 0)
      layers.set(id, Math.min(...after.map((to) => layers.get(to) ?? 0)) - 1)
  }
  return layers
}

/** Blocks so that each stands before what it leads to, and where it leads; a link that closes a circle is left out. */
function inOrder(
  blocks: readonly LayoutBlock[],
  outOf: ReadonlyMap<string, readonly LayoutLink[]>,
): { readonly order: readonly string[]; readonly next: ReadonlyMap<string, readonly string[]> } {
  const state = new Map<string, 'open' | 'done'>()
  const order: string[] = []
  const next = new Map<string, string[]>()
  const starts = [...blocks].sort((a, b) => Number(b.kind === 'trigger') - Number(a.kind === 'trigger'))
  for (const { id: start } of starts) {
    if (state.has(start)) continue
    const way = [{ id: start, at: 0 }]
    state.set(start, 'open')
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const link = (outOf.get(top.id) ?? [])[top.at++]
      if (!link) {
        state.set(top.id, 'done')
        order.push(top.id)
        way.pop()
        continue
      }
      if (state.get(link.to) === 'open') continue
      next.set(top.id, [...(next.get(top.id) ?? []), link.to])
      if (state.has(link.to)) continue
      state.set(link.to, 'open')
      way.push({ id: link.to, at: 0 })
    }
  }
  return { order: order.reverse(), next }
}
