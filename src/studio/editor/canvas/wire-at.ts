import { type Flow, type Wire, wireId, wiresOf } from '../model/flow.ts'

/** The wire under a place of the screen, also behind a block that is held there. */
export function wireAt({ x, y }: { readonly x: number; readonly y: number }, flow: Flow): Wire | undefined {
  const ids = new Set(
    document
      .elementsFromPoint(x, y)
      .map((element) => element.closest('.react-flow__edge')?.getAttribute('data-id')),
  )
  ids.delete(null)
  return ids.size === 0 ? undefined : wiresOf(flow).find((wire) => ids.has(wireId(wire)))
}
