import type { Connection, Edge } from '@xyflow/react'
import { placeAt } from '../folds/folds.ts'
import { type Flow, type Wire, wireId, wiresOf } from '../model/flow.ts'

interface End {
  readonly type: 'source' | 'target'
  readonly nodeId: string
  readonly id?: string | null
}

/** The wire between two handles, whichever of them it was drawn from; undefined between two of the same side. */
export function canvasWire(a: End, b: End): Wire | undefined {
  if (a.type === b.type) return undefined
  const [source, target] = a.type === 'source' ? [a, b] : [b, a]
  return {
    from: placeAt(source.nodeId, source.id ?? ''),
    to: placeAt(target.nodeId, target.id ?? ''),
  }
}

/** What is drawn by hand, or about to be. */
export function wireOfConnection({ source, sourceHandle, target, targetHandle }: Connection | Edge): Wire {
  return { from: placeAt(source, sourceHandle ?? ''), to: placeAt(target, targetHandle ?? '') }
}

/** The wire that an edge draws, also where it ends at a box that stands for several blocks. */
export function wireOfEdge(id: string, flow: Flow): Wire | undefined {
  return wiresOf(flow).find((wire) => wireId(wire) === id)
}

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
